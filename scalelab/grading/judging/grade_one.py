"""The unit of work: from the bytes of one submission to its result.

A pure function, so that any executor serves. What is costly to make, the fork server and the
judge, is made once per process and used again. Standard library only.
"""

import contextlib
import threading
from dataclasses import astuple, dataclass, field

from scalelab.grading.box import bubblewrap
from scalelab.grading.box.sandbox import MODULES, NoWorker, Sandbox
from scalelab.grading.box.wire import clean
from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.flag import GRAVE, Flag
from scalelab.grading.inputs.read import NotASubmission, blank, read
from scalelab.grading.inputs.source import Source
from scalelab.grading.inputs.steps import cell_of
from scalelab.grading.judging.execute import TimeLimits, execute
from scalelab.grading.judging.judge import Judge, Unasked
from scalelab.grading.judging.result import FAILED, MISSING, Result, result

QUICK = 2.0  # seconds after which a submission has to wait until the others are done
QUICKLY = QUICK, QUICK, 10 * QUICK  # limits on a cell, on calls, on all
ANSWER, OWN = 50_000, 100  # letters of an answer, and own cells, that a result shows


@dataclass(frozen=True)
class Unit:
    """One submission to grade; `previous` is its last result, `only` the checks to grade again."""

    source: Source
    submission: Submission
    key: str = ""  # gives the student's own numbers, where the course has any
    limits: TimeLimits = field(default_factory=TimeLimits)
    unsafe: bool = False
    modules: tuple[str, ...] = MODULES
    previous: Result | None = None
    only: frozenset[str] | None = None
    quick: bool = False


_here = threading.local()  # a sandbox serves one thread
_judging = threading.Lock()  # a check's prints are caught for the whole process


def grade(job: Unit) -> Result | None:
    """Return the result of one submission, or None if it has to wait for the slow ones."""
    found = settled(job)
    return grade_unsettled(job) if found is None else found


def grade_unsettled(job: Unit) -> Result | None:
    """Return the same for a submission that `settled` has left, without looking at it again."""
    try:
        return _graded(job)
    except NoWorker:
        raise
    except Exception as error:
        return gave_up(job, error)


def gave_up(job: Unit, error: Exception) -> Result:
    """Return the result of a submission on which the grader itself failed: the others go on."""
    what = f"the grader could not cope with it ({type(error).__name__}: {error})"
    return result(job.source, job.submission, status=FAILED, reason=clean(what)[:300])


def _graded(job):
    assert job.submission.data is not None  # else it would be settled
    try:
        handed = read(job.submission.data, job.source)
    except NotASubmission as error:
        return result(job.source, job.submission, status=FAILED, reason=str(error))
    keys = _keys(job, handed)
    wanted = _wanted(job, keys)
    transcript, fresh = _judged(job, handed, wanted)
    if fresh is None:
        return None
    return _composed(job, handed, keys, transcript, fresh)


def settled(job: Unit) -> Result | None:
    """Return the result where nothing has to be run: nothing there, or nothing has changed."""
    try:
        return _settled(job)
    except Exception as error:
        return gave_up(job, error)


def _settled(job):
    source, submission, old = job.source, job.submission, job.previous
    if submission.missing:
        return result(source, submission, status=MISSING, reason="nothing was handed in")
    if submission.data is None:
        return result(source, submission, status=FAILED, reason=submission.reason)
    if not (old and old["tests"]):
        return None
    try:
        handed = read(submission.data, source)
    except NotASubmission:
        return None
    keys = _keys(job, handed)
    return None if _wanted(job, keys) else _composed(job, handed, keys, None, {})


def _composed(job, handed, keys, transcript, fresh):
    """Put a result together from what is fresh and what was known."""
    source, old = job.source, job.previous or {}
    known = {test["id"]: test for test in old.get("tests", ())}
    tests = [fresh.get(c.id) or known[c.id] for c in source.cells if c.check]
    cells = {a["id"]: a["shown"] for a in old.get("answers", ())}
    cells |= transcript.cells if transcript else {}
    earlier = map(Flag.of, old.get("flags", ()))
    ran = [flag for flag in earlier if flag.run and _holds(flag, fresh, source)]
    ran += transcript.flags if transcript else []
    ran += _stopped(source, handed, cells, ran)
    isolation = old.get("isolation") if transcript is None else bubblewrap.find().name
    flags = [*handed.flags, *dict.fromkeys(ran)]
    if isolation == "none":
        flags.append(Flag("run without isolation", GRAVE))
    return result(
        source,
        job.submission,
        flags=flags,
        isolation=isolation,
        score=round(sum(test["score"] for test in tests), 2),
        tests=tests,
        manual=_manual(source, handed),
        answers=_answers(source, handed, cells),
        own=handed.own[:OWN],
        typed=handed.typed,
        keys=_kept(source, keys, old, fresh),
    )


def _judged(job, handed, wanted):
    """Run and judge what is wanted; ask again where a check has looked up more than foreseen."""
    for _ in range(5):
        with _judging:
            judge = _judge(job.source)
            plan = judge.plan(job.key)
        transcript = _run(job, handed, plan, wanted)
        if job.quick and transcript and transcript.late:
            return transcript, None
        with _judging, contextlib.suppress(Unasked):
            return transcript, {name: judge.judge(name, transcript, job.key) for name in wanted}
    raise RuntimeError("a check asks for ever more answers")


def _run(job, handed, plan, wanted):
    """Run what is wanted, and once more where the fork server itself was lost."""
    limits = job.limits
    if job.quick:
        limits = TimeLimits(*map(min, QUICKLY, astuple(limits)))
    for attempt in (1, 2):
        try:
            return execute(_sandbox(job), job.source, handed, plan, limits, wanted, job.key)
        except (NoWorker, RuntimeError, OSError):
            close()
            if attempt == 2:
                raise
    return None


def _sandbox(job):
    wanted = job.modules, job.unsafe, job.source.setup
    if getattr(_here, "sandbox", None) is None or _here.wanted != wanted:
        close()
        _here.sandbox, _here.wanted = Sandbox(*wanted), wanted
    return _here.sandbox


def close() -> None:
    """End the fork server of this thread."""
    if getattr(_here, "sandbox", None):
        _here.sandbox.close()
        _here.sandbox = None


_judges: dict[Source, Judge] = {}


def _judge(source):
    if source not in _judges:
        _judges.clear()  # of another assignment, or of the one before it was mended
        _judges[source] = Judge(source)
    return _judges[source]


def _keys(job, handed):
    """Return, for each exercise, a digest of all that its points follow from."""
    source, keys, parts = job.source, {}, []
    setup, *exercises = source.exercises
    for number, exercise in enumerate(exercises or [setup]):
        cells = [*setup, *exercise] if exercises else setup
        own = [[c.id, c.kind, c.text, c.stub, c.points] for c in cells]
        # Earlier cells may be run again for their names; earlier checks do not matter.
        parts += [[c.id, "" if c.check else c.text] for c in cells]
        parts += [[c.id, handed.answers.get(c.id), handed.extras.get(c.id)] for c in cells]
        more = [handed.extras.get(""), job.key, str(job.limits), job.unsafe]
        keys[str(number)] = source.key(own, parts, more)
    return keys


def _kept(source, keys, old, fresh):
    """Return the digests to keep: the old one of an exercise of which only some checks were made again.

    Else what was left out would pass for graded, and never be.
    """
    setup, *exercises = source.exercises
    joined = dict(keys)
    for number, exercise in enumerate(exercises or [setup]):
        checks = {cell.id for cell in exercise if cell.check}
        if not checks <= fresh.keys():
            joined[str(number)] = old.get("keys", {}).get(str(number), "")
    return joined


def _wanted(job, keys):
    """Return the checks to grade: all, the ones asked for, or those whose exercise has changed."""
    setup, *exercises = job.source.exercises
    old = job.previous or {}
    digests, judged = old.get("keys", {}), {test["id"] for test in old.get("tests", ())}
    wanted = set()
    for number, exercise in enumerate(exercises or [setup]):
        changed = keys[str(number)] != digests.get(str(number))
        for cell in exercise:
            asked = job.only is not None and cell.id in job.only
            if cell.check and (cell.id not in judged or asked or (changed and job.only is None)):
                wanted.add(cell.id)
    return [c.id for c in job.source.cells if c.id in wanted]


def _stopped(source, handed, cells, flags):
    """Return a flag for every answer that did not come to its end and has none yet."""
    known, stopped = {cell_of(flag.cell) for flag in flags}, []
    for cell in source.cells:
        error = (cells.get(cell.id) or {}).get("error")
        texts = handed.answers.get(cell.id, ())
        if cell.answer and error and cell.id not in known and not blank(cell, texts):
            stopped.append(Flag(f"stopped with {error[0]}", GRAVE, cell.id, run=True))
    return stopped


def _holds(flag, fresh, source):
    """Say whether a flag still holds: its cell is there, in no exercise that was run again."""
    if not fresh:
        return cell_of(flag.cell) in {"", *source.by_id}
    running = [part for part in source.exercises if any(c.id in fresh for c in part)]
    names = {c.id for part in [*running, source.exercises[0]] for c in part}
    return cell_of(flag.cell) in source.by_id.keys() - names


def _manual(source, handed):
    """Return the answers that a person reads; a blank one is worth nothing by itself."""
    unread = []
    for cell in source.cells:
        if cell.manual:
            texts = handed.answers.get(cell.id, ())
            empty = blank(cell, texts)
            unread.append(
                {
                    "id": cell.id,
                    "name": source.titles[cell.id],
                    "max_score": cell.points,
                    "score": 0.0 if empty else None,
                }
            )
    return unread


def _answers(source, handed, cells):
    """Return the text of every answer, and what its cells showed."""
    answers = []
    for cell in source.cells:
        if cell.answer:
            text = "\n\n".join(handed.answers.get(cell.id, ()))
            pasted = handed.attachments.get(cell.id)
            answers.append(
                {
                    "id": cell.id,
                    "kind": cell.kind,
                    "text": text if len(text) <= ANSWER else f"{text[:ANSWER]}\n(cut here)",
                    "shown": cells.get(cell.id),
                    **({"attachments": pasted} if pasted else {}),
                }
            )
    return answers
