"""The command and its options: which of them go with a job that is here, and which with a program.

Somebody wants to know whether their own program gains from more workers. They type the line that starts
it, with {workers} where the number goes, and get a table that the other commands read.
"""

import math
import shlex
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from scalelab.arguments import shown
from scalelab.cli import options
from scalelab.refusal import Refusal

# By the options that a kind of run alone has, as Python calls them.
_OF_JOBS = {"emulate": "--emulate", "sizes": "--bytes", "settings": "--set", "device": "--device",
            "append": "--append"}  # fmt: skip
_LONGEST = 86400.0  # seconds of a launch of our own processes
_OF_PROGRAMS = {"rate": "--rate", "quality": "--quality", "shell": "--shell", "retry": "--retry"}


@click.command("run", short_help="Measure a program, or a job, for every number of workers.")
@click.argument("job", required=False)
@click.option("--command", "program", metavar="LINE", help="A program to start, with {workers}.")
@click.option(
    "--workers",
    metavar="LIST",
    help="How many, as in 1,2,4.  [default: powers of two up to the cores]",
)
@click.option(
    "--scaling",
    type=click.Choice(["strong", "weak"]),
    default="strong",
    show_default=True,
    help="Whether the work stays, or grows with the workers.",
)
@click.option("--weak", is_flag=True, help="Short for --scaling weak.")
@click.option(
    "--work", type=float, metavar="N", help="Of all workers together; if weak, of each of them."
)
@click.option(
    "--repeats",
    "--repetitions",
    "repeats",
    type=int,
    metavar="N",
    help="How often to time each.  [default: 7; 20 messages; 1 of a program]",
)
@click.option(
    "--timeout",
    "--limit",
    "timeout",
    metavar="TIME",
    help="For a launch, as in 90 or '10 min'.  [default: 120 s; none for a program]",
)
@click.option("--rate", metavar="PATTERN", help=r"Read a throughput: 'samples/s: (\S+)'.")
@click.option("--quality", metavar="PATTERN", help=r"Read a quality: 'accuracy (\S+)'.")
@click.option("--shell", is_flag=True, help="Let /bin/sh read LINE, with its pipes and variables.")
@click.option("--retry", is_flag=True, help="Run again what failed before, as FILE has it.")
@click.option("--emulate", is_flag=True, help="Sleep in place of compute; what is sent is real.")
@click.option("--bytes", "sizes", metavar="LIST", help="Messages of a collective, as in 1KiB,1MiB.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="An argument of JOB.")
@click.option(
    "--device",
    type=options.DeviceChoice(["auto", "cpu", "cuda"]),
    default="auto",
    help="cpu is gloo, cuda NCCL; auto takes cuda where every worker finds a GPU.",
)
@click.option("--append", is_flag=True, help="Add to what FILE holds, if it is of this machine.")
@options.json
@options.out
@click.pass_context
def command(
    context: click.Context,
    job: str | None,
    program: str | None,
    workers: str | None,
    scaling: str,
    weak: bool,
    timeout: str | None,
    json: bool,
    out: Path | None,
    **asked: Any,
) -> int:
    """Measure JOB, or any program, for every number of workers.

    JOB is training (an epoch, data-parallel), independent (work without exchange), a collective
    (all-reduce, all-gather, reduce-scatter, broadcast, send), or a function of your own as
    module:function or file.py:function. Every worker calls it; by the names of its parameters it
    is told its `rank`, the number of `workers`, the `work` of all together (--work), and its `share` of
    that, a range of whole numbers. RANK, WORLD_SIZE and LOCAL_RANK are set as under torchrun.
    Started by torchrun, the workers are its ranks, on all of its nodes.

    LINE is run as it stands, without a shell, once for each number of workers, or --repeats times by
    turns; {workers}, {work} and {run} are filled in. Measured is the wall time of the whole process, or
    what a pattern finds last in its output. A run that fails is a row with its reason, and the others
    go on. FILE is written after every run: the same line takes it up again. The exit code is 1 where
    a number of workers has no result.

    A FILE that holds measurements of a JOB is added to with --append, and never written over.

    A FILE.csv for --out holds a row per repetition, for spreadsheets, `scalelab audit` and `fit`.

    \b
    Examples:
      scalelab run training --workers 1,2 --set steps=8
      scalelab run training --workers 2,8 --emulate --set steps=4 --repeats 3
      scalelab run all-reduce --workers 2 --bytes 1KiB,1MiB
      scalelab run --command 'sleep 0.{workers}' --workers 1,2,4

    \b
    A function of your own, every worker with its share, and programs:
      $ scalelab run mine.py:train --work 10000 --workers 1,2,4
      $ scalelab run --command 'torchrun --nproc-per-node {workers} train.py' \\
            --workers 1,2,4,8 --repeats 3 --out study.csv
      $ scalelab run --command 'srun -n {workers} ./solve --cells {work}' \\
            --workers 8,16,32 --weak --work 1e6 --timeout '20 min' --out weak.csv
      $ scalelab run --command 'mpirun -n {workers} python train.py' \\
            --rate 'samples/s: (\\S+)' --quality 'accuracy (\\S+)' --out study.csv
    The same line goes on where Ctrl-C stopped it; with --retry, failed runs too:
      $ scalelab run --command ... --out study.csv --retry
    """
    if job is None and program is None:
        raise Refusal(
            "run must be told JOB or --command, got neither: write scalelab run training, or "
            "scalelab run --command './solve --threads {workers}'"
        )
    if job is not None and program is not None:
        remedy = "drop one of them"
        if workers is not None and job.isdecimal():
            remedy = f"write --workers {workers.rstrip(',')},{job}"
        elif " " not in program:
            remedy = f"put the whole command in quotes, as in --command {shlex.quote(f'{program} {job} ...')}"
        raise Refusal(f"run must be told JOB or --command, got both, JOB as {shown(job)}: {remedy}")
    strangers, kind = (_OF_PROGRAMS, "--command") if program is None else (_OF_JOBS, "JOB")
    for name, option in strangers.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise Refusal(f"{option} must go with {kind}, got {program or job}: drop it")
    if weak and scaling == "strong":
        if context.get_parameter_source("scaling") is not ParameterSource.DEFAULT:
            raise Refusal("--weak must go without --scaling strong, got both: drop one of them")
        scaling = "weak"
    counts = None if workers is None else options.counts(workers)
    most = _LONGEST if program is None else math.inf
    limit = None if timeout is None else options.duration(timeout, "--timeout", most)
    own = {name: value for name, value in asked.items() if name not in strangers}
    own |= {"scaling": scaling}
    if job is not None:
        from scalelab.cli.run import jobs

        return jobs.run(job, counts, limit=limit, json=json, out=out, **own)
    from scalelab.cli.run import programs

    assert program is not None, "one of both, as was seen above"
    return programs.run(program, counts, timeout=limit, json=json, out=out, **own)
