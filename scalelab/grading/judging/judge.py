"""Judge answers here, where no line of a student's runs, from what their process wrote down.

A check cell is run first with stand-ins that only note what it asks for: that is the plan. Then
with what the student's process answered, after it is gone. Both times it is the same cell that
runs under nbgrader. Standard library only, plus the checks.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import threading
from typing import TYPE_CHECKING, Any

from scalelab.checks import keys
from scalelab.checks.task import Task
from scalelab.grading.box import wire
from scalelab.grading.inputs.source import Source
from scalelab.grading.inputs.steps import parsed
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from scalelab.grading.judging.execute import Plan, Transcript

_environment = threading.RLock()  # the whole process has one


class Unasked(Exception):
    """A check looked up an answer that was not in its plan; the plan has it now."""


class Judge:
    """The check cells of an assignment, ready to plan and to judge for any student's key."""

    def __init__(self, source: Source) -> None:
        self.source = source
        before = {*sys.modules}
        self.checks = [cell for cell in source.cells if cell.check]
        self._code = {c.id: _compiled(c) for c in source.cells if c.kind == "code" and not c.answer}
        self._personal = any("variant" in cell.text for cell in source.cells)
        self._more: dict[str, dict[str, None]] = {cell.id: {} for cell in self.checks}
        self._plans: dict[str, Plan] = {}
        self._stages: dict[str, dict[str, Any]] = {}
        self.plan("")
        # What a cell or a check imports only when it gets there: answers will want it as well.
        new = {name: module for name, module in sys.modules.items() if name not in before}
        self.imports = tuple(n for n, module in new.items() if getattr(module, "__spec__", None))

    def plan(self, key: str) -> Plan:
        """Return {check: (names to read, calls)} for a student's key.

        A call is (name of the function, its cases, whether they are hidden).
        """
        key = key if self._personal else ""
        if key not in self._plans:
            self._plans = {key: {}}  # of one student only: there may be thousands
            self._stages = {key: self._stage(key)}
            for cell in self.checks:
                self._plans[key][cell.id] = self._planned(cell, key)
        plans = self._plans[key]
        return {
            name: ({**read, **self._more[name]}, calls) for name, (read, calls) in plans.items()
        }

    def judge(self, check: str, transcript: Transcript, key: str = "") -> dict[str, Any]:
        """Return one test in Gradescope's shape; raise Unasked where more must be asked first."""
        cell = self.source.by_id[check]
        self.plan(key)
        replay = _Replay(check, transcript)
        try:
            value, task, text = self._run(cell, replay, key if self._personal else "")
        finally:
            self._more[check] |= dict.fromkeys(replay.unasked)
        if replay.unasked:
            raise Unasked
        title = self.source.titles[check]
        number = re.match(r"[\d.]*\d", title)
        return {
            "id": check,
            "number": number[0] if number else check,
            "name": title,
            "score": value,
            "max_score": cell.points,
            "status": "passed" if value == cell.points else "failed",
            "output": text.strip(),
            "visibility": "visible",
            "states": [verdict.state for verdict in task.verdicts],
            "slips": [verdict.slip for verdict in task.verdicts if verdict.slip],
        }

    def _planned(self, cell, key):
        """Run a check with functions, then with numbers, as stand-ins: it asks for more each time.

        Functions are as if nobody had begun, so that nothing is computed to compare them with; but
        without a key, as when the class begins: then every line of a check is tried.
        """
        notes = _Notes(callable=True, begun=not key)
        _, task, _ = self._run(cell, notes, key)
        values = _Notes(callable=False)
        self._run(cell, values, key)
        made = [(name, [wire.packed(a) for a in cases]) for name, cases in notes.calls if cases]
        hidden = [verdict.hidden for verdict in task.verdicts if verdict.called]
        if len(hidden) != len(made):  # the cell took verdicts out: any of its calls may be hidden
            hidden = [True] * len(made)
        calls = [(*call, secret) for call, secret in zip(made, hidden, strict=True)]
        return {**notes.names, **values.names}, calls

    def _run(self, cell, answers, key):
        """Run a check cell; return its points, its Task, and what it printed."""
        names = _Names(self._stages[key], answers)
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), self._as(key):
                value = _value(self._code[cell.id], names)
        except Exception as error:
            raise Refusal(
                f"{cell.id} must judge whatever it is given, got {type(error).__name__}: {error}: "
                "mend it in the source"
            ) from None
        tasks = [v for n, v in names.items() if type(v) is Task and n not in self._stages[key]]
        scored = isinstance(value, float) and 0 <= value <= cell.points
        if not scored or len(tasks) != 1:
            raise Refusal(
                f"{cell.id} must keep one Task and end in its score(), got {value!r}: "
                "see the other checks"
            )
        return float(value), tasks[0], out.getvalue()

    def _stage(self, key):
        """Run the locked cells and return their names; one that needs an answer does without."""
        names = {"__name__": "__main__"}
        for cell in self.source.cells:
            if cell.kind == "code" and not cell.answer and not cell.check:
                out = contextlib.redirect_stdout(io.StringIO())
                with contextlib.suppress(Exception), out, self._as(key):
                    _value(self._code[cell.id], names)
        return names

    @contextlib.contextmanager
    def _as(self, key):
        """Let `fresh` and `variant` draw from this course's secret and this student's key."""
        ours = {"SCALELAB_COURSE_SECRET": self.source.secret.decode(), "MPLBACKEND": "Agg"}
        with _environment, keys.using(key):
            before = {name: os.environ.get(name) for name in [*ours, "NBGRADER_VALIDATING"]}
            os.environ.pop("NBGRADER_VALIDATING", None)
            os.environ |= ours
            try:
                yield
            finally:
                for name, value in before.items():
                    os.environ.pop(name, None)
                    if value is not None:
                        os.environ[name] = value


class _Names(dict):
    """The names of a check cell; what it hands to its Task by globals() looks answers up."""

    def __init__(self, base, answers):
        super().__init__(base)
        self._answers = answers

    def get(self, name, default=None):
        """Look an answer up: all that a Task does with its mapping."""
        return self._answers.get(name)


class _Notes:
    """Notes what a check asks for: the names, and the arguments of every call, in order."""

    def __init__(self, callable, begun=False):
        self.callable, self.begun, self.names, self.calls = callable, begun, {}, []

    def get(self, name):
        self.names[name] = None
        if not self.callable:
            return 1.0
        cases: list[tuple[Any, ...]] = []
        self.calls.append((name, cases))

        def answer(*arguments):
            cases.append(arguments)
            if not self.begun:
                raise NotImplementedError

        return answer


class _Replay:
    """Answers a check with what the student's process answered, in the same order."""

    def __init__(self, check, transcript):
        self.values = transcript.values.get(check, {})
        self.outcomes = {n: iter(groups) for n, groups in transcript.outcomes[check].items()}
        self.gone = check in transcript.gone
        self.unasked = {}

    def get(self, name):
        if name not in self.values:
            if not self.gone:
                self.unasked[name] = None
            return None
        called, value = self.values[name]
        return self._function(name) if called else value

    def _function(self, name):
        group = None

        def answer(*_):
            nonlocal group
            if group is None:
                group = iter(next(self.outcomes.get(name, iter(())), ()))
            return _happens(next(group, None))

        return answer


def _happens(outcome):
    """Return or raise what a student's function did."""
    if outcome is None:
        raise _named("Crash")("the process was gone")
    if not outcome.attempted:
        raise NotImplementedError
    if outcome.error:
        raise _named(outcome.error)(outcome.said)
    return outcome.value


def _named(name):
    """Make an exception of a name: of the student's only the name and the text came here."""
    return type(name if name.isidentifier() else "Exception", (Exception,), {})


def _compiled(cell):
    """Return the code of a cell, and of its last expression."""
    tree = parsed(cell.text)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    name = f"<{cell.id}>"
    return (
        compile(tree, name, "exec"),
        compile(ast.Expression(last.value), name, "eval") if isinstance(last, ast.Expr) else None,
    )


def _value(code, names):
    body, last = code
    exec(body, names)
    return eval(last, names) if last else None
