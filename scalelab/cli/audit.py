"""`scalelab audit`: what was understood of a scaling table, what is wrong with it, and what to do about it.

Somebody has a CSV from a colleague, a spreadsheet or a log, and is about to believe it. They type the
command and the file's name, and read from the top: what was taken for what, the curve, then errors,
which make the numbers useless, warnings, which make a conclusion wrong, and notes, which limit it. Each
says where in the file to look, so that they can mend it and ask again. A script asks with --json, or
with --strict, which fails where there is anything serious.
"""

import click

from scalelab.cli import options, streams, terminal


@click.command("audit", short_help="What was understood of a scaling table, and what is wrong.")
@streams.argument
@streams.sheet
@click.option("--strict", is_flag=True, help="End with exit code 1 at an error or a warning.")
@options.json
def command(file: str, sheet: str | None, strict: bool, json: bool) -> int:
    """Say what was understood of a scaling table, and what is wrong with it, the worst first.

    FILE is CSV, a spreadsheet (.xlsx), columns parted by spaces or tabs, Markdown or JSON, with a column
    of workers (GPUs, nodes, Kerne) and one of seconds or throughput (ms, 1h 32m 10s, Laufzeit (min)); or
    what `scalelab run --out` wrote, - for standard input, or the name of a public series (`scalelab
    series` lists them). Lines are those of the file. A finding is an answer: the exit code is 0 unless
    you say --strict, and 2 where FILE cannot be read.

    \b
    Examples:
      scalelab audit sysbench_cpu
      scalelab audit nv_bert_tf2_a100_seq128_fp16 --json
    """
    from scalelab.tables import text
    from scalelab.tables.audit import audit
    from scalelab.tables.understood import understood

    table = streams.table(streams.source(file, sheet))
    findings, found = audit(table), understood(table)
    if json:
        streams.echo_json(text.document(table, findings) | text.understood_document(table, found))
    else:
        terminal.say(text.heading(table), "")
        if not terminal.quiet():
            terminal.say(*text.understood_lines(table, found), "")
            terminal.say(*text.curve_lines(table, found, terminal.listing_width()), "")
        terminal.say(*([*text.findings_lines(table, findings)] or ["nothing wrong was found"]))
    return int(strict and any(one.severity != "note" for one in findings))
