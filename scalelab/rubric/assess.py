"""A capstone that was handed in: what is missing in its record, and what its claim cannot rest on.

The same rubric that judged the study judges the submission. Nothing in a submission makes this fail:
whatever is wrong becomes a finding with its remedy. Prose is left to people.
"""

import json
from dataclasses import dataclass
from typing import Any

from scalelab import records
from scalelab.arguments import shown
from scalelab.records import Pass, Passes
from scalelab.refusal import Refusal
from scalelab.rubric import rubric
from scalelab.rubric.agreement import agree
from scalelab.rubric.claim import CLAIMS, error, of_claim
from scalelab.rubric.report import Constraints, Report
from scalelab.tables.finding import SEVERITIES, Finding
from scalelab.units import counted, text

__all__ = ["CLAIMS", "Assessment", "assess"]

FEWEST_SIZES = 3
FEWEST_SEEDS = 3


@dataclass(frozen=True)
class Assessment:
    """What is wrong with a submission, the worst first, and the report if there can be one."""

    findings: tuple[Finding, ...]
    report: Report | None

    def names(self, severity: str | None = None) -> list[str]:
        """The names of the findings, of one severity or of all."""
        return [finding.name for finding in self.findings if severity in (None, finding.severity)]


def assess(
    handed_in: object, claim: object = None, limits: Constraints | None = None, **how: Any
) -> Assessment:
    """Assess a record, and the claim that goes with it. Section 41.6.

    `handed_in` is Passes, or the text or the dictionary of such a record; `claim` a dictionary with
    `workers` and what is claimed of them, any of CLAIMS, and perhaps a `cause`. The rest goes to
    `rubric.of_passes` (`price`, `flat_rate`) and to `rubric.judge`.

    >>> assess("{}").names()
    ['unreadable']
    """
    passes, findings = _read(handed_in)
    if passes is None:
        return Assessment(tuple(findings), None)
    findings += [finding for rule in _RULES if (finding := rule(passes)) is not None]
    report = None
    try:
        rows = {name: how.pop(name) for name in ("price", "flat_rate") if name in how}
        report = rubric.judge(rubric.of_passes(passes, **rows), limits, **how)
    except Refusal as fault:
        said = _sentence(f"The rubric refuses it: {fault}")
        findings.append(error("not_judged", said, "Mend it first."))
    if report is not None:
        findings += _of_report(report)
    if claim is not None:
        findings += of_claim(claim, report)
    order = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    return Assessment(tuple(order), report)


def _read(given):
    if isinstance(given, dict):
        try:
            given = json.dumps(given)
        except (TypeError, ValueError, RecursionError):
            given = ""
    if isinstance(given, str):
        try:
            given = records.from_json(given)
        except Refusal as fault:
            return None, [
                error("unreadable", _sentence(fault), "Hand in what one_pass.append wrote.")
            ]
    if isinstance(given, Pass):
        given = Passes("one pass", (given,))
    if not isinstance(given, Passes) or not given.passes:
        lack = f"There are no passes in it, but {shown(given)}."
        return None, [error("unreadable", lack, "Hand in what one_pass.append wrote.")]
    return given, []


def _sentence(fault):
    """A refusal has no full stop, unless what it quotes has."""
    return f"{str(fault).removesuffix('.')}."


def _edited(passes):
    off = tuple(i for i, run in enumerate(passes.passes, 1) if not run.intact)
    if not off:
        return None
    fault = f"{len(off)} of {len(passes.passes)} passes are not what was sealed."
    return error(
        "edited", fault, "Hand in the file as it was written, and run again if needed.", off
    )


def _copied(passes):
    seen: dict[tuple[float, float], int] = {}
    off = []
    for number, run in enumerate(passes.passes, 1):
        if seen.setdefault((run.seconds, run.elapsed), number) != number:
            off.append(number)
    if not off:
        return None
    fault = "The same run stands there more than once: its times agree in every digit."
    return error("copied", fault, "Run each pass, with its own seed.", tuple(off))


def _mixed(passes):
    try:
        agree(passes.passes)
    except Refusal as fault:
        return error("mixed", f"The passes are not of one study: {fault}.", "Measure them alike.")
    return None


def _baseline(passes):
    least = min(run.workers for run in passes.passes)
    if least == 1:
        return None
    doubt = (
        f"The smallest size is {least} workers, so what was lost on the way there does not show."
    )
    return Finding(
        "no_baseline", "warning", doubt, "Add one worker, or say 'relative to' throughout."
    )


def _sizes(passes):
    count = len({run.workers for run in passes.passes})
    if count >= FEWEST_SIZES:
        return None
    doubt = f"{counted(count, 'worker count')} cannot tell one curve from another."
    return Finding("few_sizes", "warning", doubt, f"Measure at least {FEWEST_SIZES}.")


def _seeds(passes):
    count = len({run.seed for run in passes.passes})
    if count >= FEWEST_SEEDS:
        return None
    doubt = f"{counted(count, 'seed')} cannot tell an effect on quality from luck."
    return Finding("few_seeds", "warning", doubt, f"Repeat every size with {FEWEST_SEEDS} seeds.")


def _crowded(passes):
    cores = {run.machine.cores for run in passes.passes if run.machine.cores}
    over = sorted({run.workers for run in passes.passes if cores and run.workers > max(cores)})
    # A cluster of such machines, or GPUs, may well have enough.
    if not over or any(run.machine.gpus or "nodes" in run.varied for run in passes.passes):
        return None
    sizes = " and ".join(filter(None, [", ".join(map(str, over[:-1])), str(over[-1])]))
    fault = f"On {max(cores)} cores, {sizes} workers took turns: their times hold the waiting."
    return Finding(
        "crowded", "note", fault, "Say so beside the table; it is a wall of this machine."
    )


def _priced(passes):
    if all(run.rate is not None for run in passes.passes):
        return None
    lack = "Not every pass states its rate."
    return Finding("no_rate", "warning", lack, "Give dollars per hour of all workers, with a date.")


def _worked(passes):
    if all(run.work is not None for run in passes.passes):
        return None
    lack = "Not every pass states its work, so cost cannot be per result."
    return Finding("no_work", "warning", lack, "Give the samples, tokens or items to run.work().")


def _metered(passes):
    if all(run.joules is not None for run in passes.passes):
        return None
    return Finding(
        "no_energy", "note", "Energy was not measured in every pass.", "Claim nothing about it."
    )


_RULES = (
    _edited, _copied, _mixed, _baseline, _sizes, _seeds, _priced, _worked, _crowded, _metered,
)  # fmt: skip


def _of_report(report):
    """What the numbers themselves make doubtful."""
    for row in report.rows:
        if row.efficiency > 1 + 1e-9:
            doubt = f"Efficiency is {text(row.efficiency)} on {row.workers} workers, above 1."
            remedy = "Audit the baseline: memory, cache, tuning, other programs."
            yield Finding("superlinear", "warning", doubt, remedy)
            break
    failed = [row.workers for row in report.rows if row.passes_gate is False]
    if failed:
        doubt = f"{report.metric} got worse than the tolerance at {', '.join(map(str, failed))} workers."
        yield Finding("gate_failed", "note", doubt, "Recommend none of them, and say why.")
    open_ = [row.workers for row in report.rows if row.passes_gate is None]
    if open_:
        doubt = (
            f"The noise leaves open whether quality held at {', '.join(map(str, open_))} workers."
        )
        yield Finding(
            "gate_undecided", "note", doubt, "Repeat with more seeds, or do not claim it."
        )
