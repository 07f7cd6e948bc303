"""A rubric as one HTML file: verdict, table, three figures, the written claim and its limits.

No request leaves the page. It follows the reader's light or dark, reads on a phone and prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from scalelab.rubric import text
from scalelab.rubric.caveats import remarks
from scalelab.show import page, scorecard
from scalelab.show.template import rendered, with_one_style

if TYPE_CHECKING:
    from scalelab.rubric.report import Report

# It fades at its lower edge, as far as a page has nothing at its end: more of it is to be scrolled to.
_FRAME = Markup(
    '<iframe title="{title}" sandbox="allow-scripts" style="width:100%;height:{height}px;'
    'border:1px solid #8888;mask-image:linear-gradient(#000 calc(100% - 3rem),transparent)" '
    'srcdoc="{page}"></iframe>'
)


def page_of(report: Report, claim: str = "") -> str:
    """Return the whole page; `claim` is what the author writes beside the verdict."""
    figures = (scorecard.speedup, scorecard.efficiency, scorecard.cost)
    written = rendered(
        "rubric.html",
        title=f"Scaling rubric: {report.name}",
        verdict=text.verdict(report),
        claim=claim,
        scores=scorecard.scores(report)._repr_html_(),
        gates=scorecard.gates(report)._repr_html_(),
        findings=scorecard.findings(report),
        figures=[page.figure(figure(report)) for figure in figures],
        asked=_asked(report),
        analysis=analysis(report),
        remarks=remarks(report),
        unmeasured=unmeasured(report),
    )
    return with_one_style(written)


class Embedded:
    """A page shown inside another, as it would be alone: nothing of one reaches the other."""

    def __init__(self, text: str, title: str = "The report", height: int = 640) -> None:
        self.text, self.title, self.height = text, title, height

    def _repr_html_(self) -> str:
        return _FRAME.format(title=self.title, height=self.height, page=str(self.text))

    def __repr__(self) -> str:
        return f"{self.title}: {len(self.text) / 1e3:.0f} kB of HTML"


def analysis(report: Report) -> list[str]:
    """Return the written analysis: what the largest number hides, and what the choice rests on."""
    largest = max(report.rows, key=lambda row: row.speedup)
    texts = []
    if report.recommended != largest.workers:
        lost = 1 - largest.efficiency
        texts.append(
            f"The largest speedup is {largest.speedup:.2f} times, on {largest.workers} workers. "
            f"There the efficiency is {largest.efficiency:.3f}"
            + (f": {lost:.0%} of what is paid for does nothing" if lost > 0 else "")
            + f", and a unit costs {_ratio(largest, report)} times what it costs on "
            f"{report.baseline}. It is not the number to quote."
        )
    if report.recommended is not None:
        texts.append(f"{report.recommended} workers are {text.reason(report)}.")
    out = [row for row in report.rows if row.passes_gate is False]
    if out:
        sizes = ", ".join(str(row.workers) for row in out)
        texts.append(
            f"A speedup counts only where the result is as good. At {sizes} workers it is not, so "
            "those times are of another job and rank nowhere."
        )
    return texts


def unmeasured(report: Report) -> list[str]:
    """Return what the rows leave open."""
    texts = [f"More than {report.rows[-1].workers} workers."]
    if all(row.runs == 1 for row in report.rows):
        texts.append("How much time and quality differ from run to run.")
    if all(row.joules is None for row in report.rows):
        texts.append("Energy and CO2.")
    if all(row.latency is None for row in report.rows):
        texts.append("The latency of a single result, at any percentile.")
    if report.shortfall is not None and report.shortfall.how != "measured":
        texts.append("The exposed communication of a step.")
    if not report.work_stated:
        texts.append("The work of a run.")
    return texts


def _ratio(row, report):
    return f"{row.cost_per_work / report.row(report.baseline).cost_per_work:.2f}"


def _asked(report):
    from scalelab import units

    limits = report.limits
    asked = {
        "efficiency": f"at least {units.text(limits.floor)}",
        "loss of quality": f"at most {units.text(limits.tolerance)}, one-sided",
    }
    for name, unit in (("deadline", "s"), ("latency", "s"), ("joules", "J"), ("grams", "g")):
        if getattr(limits, name) is not None:
            asked[name] = f"at most {units.text(getattr(limits, name), unit)}"
    if limits.budget is not None:
        asked["budget"] = f"at most {units.dollars(limits.budget)}"
    if limits.throughput is not None:
        asked["throughput"] = f"at least {units.text(limits.throughput)} per second"
    return asked | {"among those": f"the {limits.objective}"}
