"""Whether passes are of one study: what must not differ between them does not, or the field is named."""

from collections.abc import Sequence

from scalelab.arguments import shown
from scalelab.records import Pass
from scalelab.refusal import Refusal
from scalelab.units import counted

# What a time and a quality depend on, beside the workers and the seed.
FIELDS = ("metric", "better", "data", "code")
_REMEDY = {
    "metric": "evaluate all passes the same way",
    "better": "say the same of all passes",
    "data": "evaluate all passes on the same held-out data",
    "code": "run all passes with the same code",
    "machine": "take all passes on one machine",
}


def agree(passes: Sequence[Pass]) -> tuple[str, ...]:
    """Return the names of what varied on purpose; refuse passes that differ in anything else."""
    first = passes[0]
    for other in passes[1:]:
        for name in FIELDS:
            _same(name, getattr(first, name), getattr(other, name), first, other)
        for name in sorted(set(first.configuration) | set(other.configuration)):
            here, there = first.configuration.get(name), other.configuration.get(name)
            if here != there:
                _refuse(
                    f"configuration {name!r}", _held(first, name), _held(other, name), first, other,
                    "measure again alike, or declare it in `varied` of every pass if it changes on purpose",
                )  # fmt: skip
        if set(first.varied) != set(other.varied):
            here, there = (shown(sorted(run.varied)) for run in (first, other))
            _refuse("the names in varied", here, there, first, other)
        _same("machine", _host(first), _host(other), first, other)
    _seeds(passes)
    _varied_with_the_workers(passes)
    return tuple(sorted(first.varied))


def _held(run, name):
    """What a pass says of a name that others hold fixed; it may have declared that it changes on purpose."""
    if name in run.varied:
        return f"{shown(run.varied[name])}, declared in `varied`,"
    return shown(run.configuration.get(name))


def _seeds(passes):
    """Every size from the same seeds, each once: the luck of one seed helps all sizes or none."""
    seeds: dict[int, list[int]] = {}
    for run in passes:
        seeds.setdefault(run.workers, []).append(run.seed)
    for workers, of_size in seeds.items():
        again = {seed for seed in of_size if of_size.count(seed) > 1}
        if again:
            raise Refusal(
                f"passes of {counted(workers)} must differ in their seed, got {min(again)} more than "
                "once: keep one pass of each seed, decided before looking"
            )
    first, *others = sorted(seeds)
    for other in others:
        if set(seeds[other]) != set(seeds[first]):
            raise Refusal(
                f"passes must have the same seed in every size, got {sorted(seeds[first])} with "
                f"{counted(first)} and {sorted(seeds[other])} with {other}: run the missing ones"
            )


def _varied_with_the_workers(passes):
    """What varies on purpose is the same wherever the workers are."""
    first: dict[int, Pass] = {}
    for run in passes:
        before = first.setdefault(run.workers, run)
        for name in sorted(run.varied):
            if run.varied[name] != before.varied[name]:
                _refuse(
                    f"varied {name!r}", shown(before.varied[name]), shown(run.varied[name]), before, run,
                    "let it depend on the workers only",
                )  # fmt: skip


def _host(run):
    machine = run.machine
    return machine.name, machine.python, machine.torch, machine.cuda


def _same(name, here, there, first, other):
    if here != there:
        if name == "machine":
            differing = [(a, b) for a, b in zip(here, there, strict=True) if a != b]
            here, there = differing[0]
        _refuse(name, shown(here), shown(there), first, other, _REMEDY[name])


def _refuse(what, here, there, first, other, remedy="declare the same in all passes"):
    raise Refusal(
        f"passes must agree in {what}, got {here} with {counted(first.workers)} and "
        f"{there} with {other.workers}: {remedy}"
    )
