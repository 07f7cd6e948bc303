"""A sweep: one job over worker counts, its work fixed (strong scaling) or growing with them (weak).

Strong and weak differ in one argument of the job: what it counts stays, or is multiplied by K.
"""

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from scalelab.arguments import meant, shown, whole
from scalelab.measure.ranks import capacity, jobs, workers
from scalelab.records import Sample
from scalelab.refusal import Refusal
from scalelab.units import counted


class Workload(NamedTuple):
    """What a sweep runs, and which of its arguments is the amount of work."""

    name: str
    function: Callable[..., Any]  # of a user's own, whatever it returns
    work: str  # "" for a function that does not say how much it is to do
    parts: bool = False  # whether the work must split into equal parts


BUILT_IN = {
    "training": Workload("training", jobs.training_epoch, "batch", parts=True),
    "independent": Workload("independent", jobs.independent, "items"),
}


def find(name: str) -> Workload:
    """Return a built-in job, or a function of your own given as "module:function".

    >>> find("training").work
    'batch'
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    module, _, function = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not (module and function):
        raise Refusal(
            f"job must be {', '.join(BUILT_IN)} or module:function, got {shown(name)}: "
            f"{meant(name, BUILT_IN, 'name a function that Python can import from here')}"
        )
    try:
        target = getattr(importlib.import_module(module), function)
        parameters = inspect.signature(target).parameters
    except (Exception, SystemExit) as error:  # a user's module may do anything when imported
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise Refusal(
            f"job must name a function that can be imported, got {shown(name)} ({cause}): "
            "start in the folder of the module, or install it"
        ) from None
    return Workload(name, target, "work" if "work" in parameters else "")


def sweep(
    job: Workload,
    counts: Iterable[int],
    *,
    weak: bool = False,
    emulated: bool = False,
    repetitions: int = 7,
    device: str = "cpu",
    limit: float = 120.0,
    given: dict[str, Any] | None = None,
) -> Iterator[Sample]:
    """Yield one Sample for each number of workers, in the order of `counts`. Section 3.3.

    Weak scaling multiplies the job's work by K: the batch of `training`, the items of `independent`,
    the argument `work` of a function of your own. `given` are the job's other arguments. All that can
    be refused is refused before the first run.
    """
    counts = [capacity.fit(count, device) for count in counts]
    if not counts:
        raise Refusal("workers must be at least one number, got none: say how many, as in 1,2,4")
    given = _known(job, {} if given is None else given)
    if emulated and job.name not in BUILT_IN:
        raise Refusal(
            f"job must be {' or '.join(BUILT_IN)} to be emulated, got {job.name}: only of these is it "
            "known what to replace by a sleep"
        )
    if emulated and device != "cpu":
        raise Refusal(
            f"device must be cpu to emulate, got {device}: a GPU cannot be shared out by sleeping"
        )
    if weak and not job.work:
        raise Refusal(
            f"job must have an argument `work` for weak scaling, got {job.name} without: "
            "let the function do `work` times its share, or ask for strong scaling"
        )
    plans = []
    for count in counts:
        amount = _amount(job, given, count, count if weak else 1) if job.work else None
        plans.append((count, given | ({job.work: amount} if job.work else {})))
    how: dict[str, object] = {"repetitions": whole("repetitions", repetitions, "it is a count")}
    how |= {"limit": limit, "device": device} | ({"emulated": True} if emulated else {})
    return _runs(job, plans, "weak" if weak else "strong", how)


def _runs(job, plans, scaling, how):
    for count, given in plans:
        what, arguments = job.function, given
        if job.name not in BUILT_IN:
            what, arguments = jobs.repeat, {"function": job.function, "arguments": given}
        try:
            results = workers.launch(what, count, **how, **arguments)
        except workers.WorkerError as error:  # by the name that the user gave
            raise workers.WorkerError(job.name, error.said, error.output) from None
        about = {"scaling": scaling, "work": given.get(job.work, 1)}
        about["backend"] = capacity.BACKENDS[how["device"]]
        about |= {n: v if isinstance(v, (int, float, str)) else str(v) for n, v in given.items()}
        yield jobs.gathered(results, f"{job.name} on {counted(count)}", about)


def _known(job: Workload, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments, if the job knows them all and none is missing."""
    parameters = inspect.signature(job.function).parameters.values()
    named = {p.name: p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    missing = [n for n, p in named.items() if p.default is p.empty and n not in given]
    if missing:
        raise Refusal(
            f"arguments must hold {', '.join(missing)}, which {job.name} asks for, got "
            f"{', '.join(given) or 'none'}: give each as name=value"
        )
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return given
    open_to = [n for n in named if job.name not in BUILT_IN or n not in ("repetitions", "emulated")]
    for name in given:
        if name not in open_to:
            raise Refusal(
                f"arguments must be among those of {job.name} ({', '.join(open_to) or 'it has none'}), "
                f"got {shown(name)}: name one of them"
            )
    return given


def _amount(job: Workload, given: dict[str, Any], count: int, times: int) -> int:
    """Return the work of all workers together, in parts that are equal where the job needs them."""
    default = inspect.signature(job.function).parameters[job.work].default
    each = whole(job.work, given.get(job.work, default), "it is the amount of work")
    if job.parts and each * times % count:
        raise Refusal(
            f"{job.work} must be a multiple of every number of workers, got {each} for {count}: "
            f"choose one that splits into equal parts, such as {count * -(-each // count)}"
        )
    return each * times
