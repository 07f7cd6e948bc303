"""A job on processes of our own: over worker counts, strong or weak, or a collective over sizes."""

import difflib
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from scalelab.arguments import shown
from scalelab.cli import options, streams, terminal
from scalelab.refusal import Refusal
from scalelab.units import counted


def run(
    job: str,
    counts: list[int] | None,
    *,
    device: str,
    json: bool,
    out: Path | None,
    append: bool,
    **asked: Any,
) -> int:
    """Measure a job, keep and show it; return 1 where a size failed, and the others were measured."""
    from scalelab.measure.messages import collectives
    from scalelab.measure.ranks import sweep, torchrun, workers

    _known(job, [*sweep.BUILT_IN, *collectives.GLOO])
    plan = _messages if job in collectives.GLOO else _scaling
    title, note, sizes, table = plan(job, counts, device, **asked)
    samples, failed = [], []
    with (
        streams.taking(title, table, json=json, out=out, append=append) as so_far,
        streams.progress(title, len(sizes)) as bar,
    ):
        for size, measured in sizes:
            try:
                samples += measured()
            except workers.WorkerError as error:
                if torchrun.inside():  # which ends all ranks where one has failed
                    raise
                failed.append(f"{size} failed: {error.cause}.")
                bar.clear()
                _complain(error)
            so_far(samples, " ".join([*([note] if note else []), *failed]))
            bar.update()
    return int(bool(failed))


def _complain(error):
    terminal.complain(f"scalelab: {' '.join(str(error).split())}")
    for line in error.output.splitlines():
        terminal.complain(line)


def _known(job, names):
    """Refuse what is neither a built-in job nor like a function, and say what was meant."""
    if job in names or ":" in job:
        return
    near = difflib.get_close_matches(job, names, n=1)
    remedy = f"did you mean {near[0]}?" if near else "choose one"
    if job.endswith(".py") and os.path.isfile(job):
        remedy = (
            f"name its function, as in {job}:train, or start it as a program, by "
            f"--command 'python {job} {{workers}}'"
        )
    elif " " in job or "/" in job or job.endswith((".py", ".sh")):
        remedy = "start a program by --command 'torchrun --nproc-per-node {workers} train.py'"
    raise Refusal(
        f"job must be {', '.join(names)}, module:function or file.py:function, got {shown(job)}: {remedy}"
    )


def _scaling(job, counts, device, *, scaling, work, emulate, sizes, settings, repeats, limit):
    """Return the title of a sweep, a word on it, what measures each size, and how to tabulate them."""
    from scalelab import units
    from scalelab.measure.ranks import sweep
    from scalelab.models.scaling import study

    if sizes:
        raise Refusal(f"--bytes must go with a collective, got {job}: drop it, or choose one")
    given = dict(map(options.setting, settings))
    how: dict[str, Any] = {"weak": scaling == "weak"}
    how |= {"repetitions": repeats} if repeats is not None else {}
    how |= {"limit": limit} if limit is not None else {}
    if (here := os.getcwd()) not in sys.path:  # a function of the user's own is where the user is
        sys.path.insert(0, here)
    workload = sweep.find(job)
    device = "cpu" if emulate and device == "auto" else device
    device, counts = _placed(device, counts, fewest=1)
    if work is not None:
        given = sweep.with_work(workload, given, work)
    how |= {"given": given, "emulated": emulate, "device": device}
    # A sweep for each size, so that one which fails is not the end of the others.
    runs: list[tuple[str, partial[Any]]]
    runs = [(counted(k), partial(list, sweep.sweep(workload, [k], **how))) for k in counts]
    copies = workload.copies

    def table(samples):
        count = [sample.given["workers"] for sample in samples]
        work = [sample.given["work"] for sample in samples]
        seconds = [sample.median for sample in samples]
        base = count.index(min(count))
        if copies:
            longer = [each / seconds[base] for each in seconds]
            times = f"times as long as {count[base]}"
            return {"workers": count, "copies": count, "time": samples, times: longer}
        gain = study.scaled_speedup(seconds[base], seconds, [w / work[base] for w in work])
        shares = [units.share(g * count[base] / k) for g, k in zip(gain, count, strict=True)]
        over = "" if count[base] == 1 else f" over {count[base]}"
        columns = {"workers": count, "work": work, "time": samples}
        return columns | {f"speedup{over}": gain, f"efficiency{over}": shares}

    title = f"{job}, {f'{scaling} scaling'}{', emulated' if emulate else ''}"
    if copies:
        return f"{job}, copies side by side", sweep.COPIES, runs, table
    return title, sweep.UNSURE if workload.unsure else "", runs, table


def _messages(job, counts, device, *, scaling, work, emulate, sizes, settings, repeats, limit):
    from scalelab import units
    from scalelab.measure.messages import collectives
    from scalelab.models.network import bandwidth

    others = {"--weak": scaling == "weak", "--work": work is not None}
    for name, given in (others | {"--emulate": emulate, "--set": settings}).items():
        if given:
            raise Refusal(f"{name} must go with a job that computes, got {job}: drop it")
    how = {"iterations": repeats} if repeats is not None else {}
    how |= {"limit": limit} if limit is not None else {}
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
            "spread": units.column(spread, "s", none="unknown"),
            "algbw": units.column(bandwidth.algorithm_bandwidth(size, seconds), "B/s"),
        }
        if job in bandwidth.FACTORS:
            busbw = bandwidth.bus_bandwidth(size, seconds, count, job)
            columns["busbw"] = units.column(busbw, "B/s")
        return columns

    # A launch for each size, so that it is kept before the next: started again, processes cost little.
    runs = [
        (
            f"{units.text(size, 'B', binary=True)} on {counted(count)}",
            partial(collectives.measure, job, [size], count, device=device, **how),
        )
        for count in counts
        for size in sizes
    ]
    return f"{job} over message sizes", "", runs, table


def _placed(device, counts, fewest):
    """Return the device and the worker counts to take, where the user left them open."""
    from scalelab.measure.ranks import capacity

    if device == "auto":
        gpus = capacity.most("cuda")[0]
        device = "cuda" if gpus and gpus >= max(counts or [fewest]) else "cpu"
    counts = counts or options.powers(fewest, capacity.usual(device))
    return device, [capacity.fit(count, device, fewest) for count in counts]
