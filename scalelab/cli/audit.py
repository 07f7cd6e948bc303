"""`scalelab audit`: what is wrong with a scaling table, and what to do about it.

Somebody has a CSV from a colleague, a spreadsheet or a log, and is about to believe it. They type the
command and the file's name, and read from the top: errors make the numbers useless, warnings make a
conclusion wrong, notes limit it. Each line says where in the file to look, so that they can mend it
and ask again. A script asks with --json, or with --strict, which fails where there is anything serious.
"""

import click

from scalelab.cli import options, streams


@click.command("audit")
@streams.argument
@click.option("--strict", is_flag=True, help="End with exit code 1 at an error or a warning.")
@options.json
def command(file: str, strict: bool, json: bool) -> int:
    """Say what is wrong with a scaling table, the worst first.

    FILE is CSV, Markdown or JSON with a column of workers and one of seconds or throughput, what
    `scalelab run --out` wrote, - for standard input, or the name of a public series. Lines are
    those of the file. A finding is an answer: the exit code is 0 unless you say --strict, and 2
    where FILE cannot be read.

    \b
    Examples:
      scalelab audit sysbench_cpu
      scalelab audit nv_bert_tf2_a100_seq128_fp16 --json
    """
    from scalelab.tables import text
    from scalelab.tables.audit import audit

    table = streams.table(streams.source(file))
    findings = audit(table)
    if json:
        streams.echo_json(text.document(table, findings))
    else:
        click.echo(text.heading(table))
        for line in (
            text.findings_lines(table, findings) if findings else ["nothing wrong was found"]
        ):
            click.echo(line)
    return int(strict and any(one.severity != "note" for one in findings))
