"""A sweep: one job over worker counts, its work fixed (strong scaling) or growing with them (weak).

Strong and weak differ in one argument of the job: what it counts stays, or is multiplied by K.
"""

import importlib
import inspect
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scalelab.arguments import meant, shown, whole
from scalelab.measure.ranks import aside, capacity, jobs, workers
from scalelab.records import Sample
from scalelab.refusal import Refusal
from scalelab.units import counted


class Workload(NamedTuple):
    """What a sweep runs, and which of its arguments is the amount of work."""

    name: str
    function: Callable[..., Any]  # of a user's own, whatever it returns
    work: str  # "" for a function that does not say how much it is to do
    parts: bool = False  # whether the work must split into equal parts
    told: tuple[str, ...] = ()  # which of jobs.TOLD a function of a user's own asks for
    copies: bool = False  # whether it does not even look for them, so that every worker does all
    unsure: bool = False  # whether something beside it looks for them, and it may not


BUILT_IN = {
    "training": Workload("training", jobs.training_epoch, "batch", parts=True),
    "independent": Workload("independent", jobs.independent, "items"),
}


COPIES = (
    "It takes none of rank, workers and share, so every worker did the whole job: "
    "this measures K copies, not a division."
)
UNSURE = (
    "It takes none of rank, workers and share: if it does not look for its part itself, every worker "
    "did the whole job, and this measures copies, not a division."
)
# Who divides in another way has one of these words in the module, or in one beside it.
_DIVIDES = re.compile(
    r"rank|RANK|world_size|WORLD_SIZE|distributed|mpi4py|accelerate|lightning|deepspeed|horovod|\bjax\b"
)


def find(name: str) -> Workload:
    """Return a built-in job, or a function of your own as "module:function" or "file.py:function".

    >>> find("training").work
    'batch'
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    module, _, function = name.rpartition(":") if isinstance(name, str) else ("", "", "")
    if not (module and function):
        raise Refusal(
            f"job must be {', '.join(BUILT_IN)}, module:function or file.py:function, got {shown(name)}: "
            f"{meant(name, BUILT_IN, 'name a function, or start a whole program by --command')}"
        )
    try:
        with aside.stdout():  # a module that prints when it is imported is no part of our output
            found = _imported(module)
    except Refusal:
        raise
    except (Exception, SystemExit) as error:  # a user's module may do anything when imported
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        remedy = "start in the folder of the module, or install it"
        if missing is None:
            remedy = "mend the module"
        elif missing.partition(".")[0] != module.partition(".")[0]:
            remedy = f"install {missing}, which it imports"
        raise Refusal(
            f"job must name a function that can be imported, got {shown(name)} ({cause}): {remedy}"
        ) from None
    try:
        target = getattr(found, function)
        parameters = inspect.signature(target).parameters
    except (AttributeError, TypeError, ValueError) as error:
        own = vars(found).items()
        there = [one for one, its in own if inspect.isfunction(its) and one[0] != "_"]
        listed = f"it has {', '.join(there[:5])}{' and others' if there[5:] else ''}"
        what = "is no function" if hasattr(found, function) else "is not there"
        what = (
            what
            if isinstance(error, (AttributeError, TypeError))
            else "does not tell its arguments"
        )
        raise Refusal(
            f"job must name a function of its module, got {shown(name)}, which {what}: "
            f"{meant(function, there, listed) if there else 'define it by def'}"
        ) from None
    try:
        pickle.dumps(target)
    except Exception:
        raise Refusal(
            f"job must be a function that other processes find by its name, got {shown(name)}: "
            "define it by def, at the top of its module"
        ) from None
    told = tuple(one for one in jobs.TOLD if one in parameters)
    work = "work" if {"work", "share"} & {*parameters} else ""
    copies = not told and not _divides(target)
    unsure = not (told or copies or _speaks(target))
    return Workload(name, target, work, told=told, copies=copies, unsure=unsure)


def _imported(module):
    """Import a module by its name, or by the path of its file."""
    if not module.endswith(".py"):
        return importlib.import_module(module)
    file = Path(module).resolve()
    if not file.is_file():
        raise Refusal(f"job must name a file that is there, got {shown(module)}: check the path")
    sys.path.insert(0, str(file.parent))  # the processes that are started have the same
    found = importlib.import_module(file.stem)
    if Path(getattr(found, "__file__", None) or "").resolve() != file:
        raise Refusal(
            f"job must be in a file whose name no other module has, got {shown(module)}: rename it"
        )
    return found


def _divides(target):
    """Whether the module of a function, or another in its folder, speaks of dividing."""
    own = inspect.getmodule(target)
    folder = Path(getattr(own, "__file__", None) or "/nowhere/at/all").parent
    beside = [
        one
        for one in list(sys.modules.values())
        if Path(getattr(one, "__file__", None) or "/").parent == folder
        and folder.is_relative_to(Path.cwd())
    ]
    return any(map(_speaks, {id(module): module for module in (own, *beside) if module}.values()))


def _speaks(thing):
    """Whether the source of a module or of a function has a word of dividing."""
    try:
        return bool(_DIVIDES.search(inspect.getsource(thing)))
    except (OSError, TypeError):  # of another language
        return False


def with_work(job: Workload, given: dict[str, Any], work: float) -> dict[str, Any]:
    """Return the arguments with the work among them, under the name that the job has for it.

    >>> with_work(BUILT_IN["training"], {"steps": 8}, 64)
    {'steps': 8, 'batch': 64}
    """
    if not job.work:
        raise Refusal(
            f"work must go with a job that asks for it, got {job.name}, which has no argument work or "
            "share: drop --work"
        )
    if job.work in given:
        raise Refusal(
            f"work must be said once, got {job.work}={shown(given[job.work])} besides: drop one of them"
        )
    return given | {job.work: int(work) if float(work).is_integer() else work}


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
    for name, value in given.items() if job.name in BUILT_IN else ():
        whole(name, value, "it is a count", 0 if name == "seed" else 1)
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
            "let the function do its `share` of it, or ask for strong scaling"
        )
    if weak and job.copies:
        raise Refusal(
            f"job must take rank, workers or share for weak scaling, got {job.name} without: every "
            "worker would do the work of all"
        )
    plans = []
    for count in counts:
        amount = _amount(job, given, count, count if weak else 1) if job.work else None
        plans.append((count, given | ({job.work: amount} if job.work else {})))
    how: dict[str, object] = {"repetitions": whole("repetitions", repetitions, "it is a count")}
    how |= {"limit": limit, "device": device} | ({"emulated": True} if emulated else {})
    return _runs(job, plans, "weak" if weak else "copies" if job.copies else "strong", how)


def _runs(job, plans, scaling, how):
    for count, given in plans:
        what, arguments = job.function, given
        if job.name not in BUILT_IN:
            what = jobs.repeat
            arguments = {"function": job.function, "arguments": given, "told": job.told}
        try:
            results = workers.launch(what, count, **how, **arguments)
        except workers.WorkerError as error:  # by the name that the user gave
            raise workers.WorkerError(job.name, error.said, error.output, error.cause) from None
        work = given.get(job.work, 1) * (count if job.copies else 1)
        about = {"scaling": scaling, "work": work}
        about["backend"] = capacity.BACKENDS[how["device"]]
        about = {
            n: v if isinstance(v, (int, float, str)) else str(v) for n, v in given.items()
        } | about
        yield jobs.gathered(results, f"{job.name} on {counted(count)}", about)


def _known(job: Workload, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments, if the job knows them all and none is missing."""
    parameters = inspect.signature(job.function).parameters.values()
    named = {p.name: p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    for name in job.told:
        if name in given:
            raise Refusal(
                f"arguments must leave {name} to the run, which tells it to {job.name}, got "
                f"{name}={shown(given[name])}: drop it"
            )
    missing = [n for n, p in named.items() if p.default is p.empty and n not in (*given, *job.told)]
    if missing:
        raise Refusal(
            f"arguments must hold {', '.join(missing)}, which {job.name} asks for, got "
            f"{', '.join(given) or 'none'}: give each as name=value"
        )
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return given
    ours = job.told if job.name not in BUILT_IN else ("repetitions", "emulated")
    open_to = [n for n in named if n not in ours] + [job.work] * (
        job.work not in named and bool(job.work)
    )
    for name in given:
        if name not in open_to:
            raise Refusal(
                f"arguments must be among those of {job.name} ({', '.join(open_to) or 'it has none'}), "
                f"got {shown(name)}: name one of them"
            )
    return given


def _amount(job: Workload, given: dict[str, Any], count: int, times: int) -> int:
    """Return the work of all workers together, in parts that are equal where the job needs them."""
    parameter = inspect.signature(job.function).parameters.get(job.work)
    default = inspect.Parameter.empty if parameter is None else parameter.default
    if default is inspect.Parameter.empty and job.work not in given:
        raise Refusal(
            f"work must be said to {job.name}, which takes a share of it, got none: "
            "add --work, such as --work 1000"
        )
    each = whole(job.work, given.get(job.work, default), "it is the amount of work")
    if job.parts and each * times % count:
        raise Refusal(
            f"{job.work} must be a multiple of every number of workers, got {each} for {count}: "
            f"choose one that splits into equal parts, such as {count * -(-each // count)}"
        )
    return each * times
