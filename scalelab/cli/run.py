"""`scalelab run`: a job over worker counts, strong or weak, or a collective over message sizes."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from scalelab.cli import options, streams
from scalelab.refusal import Refusal


@click.command("run")
@click.argument("job")
@click.option("--workers", help="How many, as in 1,2,4.  [default: powers of two up to the cores]")
@click.option("--weak", is_flag=True, help="Let the work grow with the workers.")
@click.option("--emulate", is_flag=True, help="Sleep in place of compute; what is sent is real.")
@click.option("--bytes", "sizes", help="Messages of a collective, as in 1KiB,1MiB.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="An argument of JOB.")
@click.option("--repetitions", type=int, help="How often to time each.  [default: 7; 20 messages]")
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    help="cpu is gloo, cuda NCCL; auto takes cuda where every worker finds a GPU.",
)
@click.option("--limit", type=float, default=120, show_default=True, help="Seconds for a launch.")
@click.option("--append", is_flag=True, help="Add to what FILE holds, if it is of this machine.")
@options.json
@options.out
def command(
    job: str,
    workers: str | None,
    device: str,
    json: bool,
    out: Path | None,
    append: bool,
    **asked: Any,
) -> None:
    """Measure JOB on real processes, for every number of workers.

    JOB is training (an epoch, data-parallel), independent (work without exchange), a collective
    (all-reduce, all-gather, reduce-scatter, broadcast, send), or a function of your own as
    module:function, which every worker calls; for --weak it takes an argument `work`. Started by
    torchrun, the workers are its ranks, on all of its nodes. A FILE.csv for --out holds a row per
    repetition, for spreadsheets and `scalelab audit`.

    \b
    Examples:
      scalelab run training --workers 1,2 --set steps=8
      scalelab run training --workers 2,8 --emulate --set steps=4 --repetitions 3
      scalelab run all-reduce --workers 2 --bytes 1KiB,1MiB
    """
    from scalelab.measure.messages import collectives

    counts = None if workers is None else options.counts(workers)
    plan = _messages if job in collectives.GLOO else _scaling
    title, counts, batches, table = plan(job, counts, device, **asked)
    samples = []
    with (
        streams.taking(title, table, json=json, out=out, append=append) as so_far,
        streams.progress(title, len(counts)) as bar,
    ):
        for batch in batches:
            samples += batch
            so_far(samples)
            bar.update()


def _scaling(job, counts, device, *, weak, emulate, sizes, settings, repetitions, limit):
    """Return the title of a sweep, its counts, its measurements to come, and how to tabulate them."""
    from scalelab.measure.ranks import sweep
    from scalelab.models.scaling import study

    if sizes:
        raise Refusal(f"--bytes must go with a collective, got {job}: drop it, or choose one")
    how = {"given": dict(map(options.setting, settings)), "limit": limit}
    how |= {"repetitions": repetitions} if repetitions is not None else {}
    if (here := os.getcwd()) not in sys.path:  # a function of the user's own is where the user is
        sys.path.insert(0, here)
    workload = sweep.find(job)
    device = "cpu" if emulate and device == "auto" else device
    device, counts = _placed(device, counts, fewest=1)
    samples = sweep.sweep(workload, counts, weak=weak, emulated=emulate, device=device, **how)

    def table(samples):
        count = [sample.given["workers"] for sample in samples]
        work = [sample.given["work"] for sample in samples]
        seconds = [sample.median for sample in samples]
        base = count.index(min(count))
        gain = study.scaled_speedup(seconds[base], seconds, [w / work[base] for w in work])
        share = [g * count[base] / k for g, k in zip(gain, count, strict=True)]
        over = "" if count[base] == 1 else f" over {count[base]}"
        columns = {"workers": count, "work": work, "time": samples}
        return columns | {f"speedup{over}": gain, f"efficiency{over}": share}

    title = f"{job}, {'weak' if weak else 'strong'} scaling{', emulated' if emulate else ''}"
    return title, counts, ([sample] for sample in samples), table


def _messages(job, counts, device, *, weak, emulate, sizes, settings, repetitions, limit):
    from scalelab import units
    from scalelab.measure.messages import collectives
    from scalelab.models.network import bandwidth

    for name, given in (("--weak", weak), ("--emulate", emulate), ("--set", settings)):
        if given:
            raise Refusal(f"{name} must go with a job that computes, got {job}: drop it")
    how = {"limit": limit} | ({"iterations": repetitions} if repetitions is not None else {})
    sizes = options.sizes(sizes or "1KiB,16KiB,256KiB,4MiB")
    device, counts = _placed(device, counts, fewest=2)

    def table(samples):
        size, count = ([sample.given[name] for sample in samples] for name in ("bytes", "workers"))
        seconds = [sample.median for sample in samples]
        spread = [sample.given.get("spread") for sample in samples]
        columns = {
            "workers": count,
            "bytes": [units.text(each, "B", binary=True) for each in size],
            "time": samples,
            "spread": ["unknown" if s is None else units.text(s, "s") for s in spread],
            "algbw": _rates(bandwidth.algorithm_bandwidth(size, seconds)),
        }
        if job in bandwidth.FACTORS:
            columns["busbw"] = _rates(bandwidth.bus_bandwidth(size, seconds, count, job))
        return columns

    runs = (collectives.measure(job, sizes, count, device=device, **how) for count in counts)
    return f"{job} over message sizes", counts, runs, table


def _rates(values):
    from scalelab import units

    return [units.text(value, "B/s") for value in values]


def _placed(device, counts, fewest):
    """Return the device and the worker counts to take, where the user left them open."""
    from scalelab.measure.ranks import capacity

    if device == "auto":
        device = "cuda" if capacity.most("cuda")[0] >= max(counts or [fewest]) else "cpu"
    counts = counts or options.powers(fewest, capacity.usual(device))
    return device, [capacity.fit(count, device, fewest) for count in counts]
