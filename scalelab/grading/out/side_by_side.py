"""Who wrote the same, for the instructor to look at: a table of pairs, and their answers side by side."""

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from markupsafe import Markup

from scalelab.grading.inputs.source import Source
from scalelab.grading.judging.result import Result, file_name
from scalelab.grading.out.similar import MET, RUN, Pair, answers, rare_runs, runs, tokens
from scalelab.grading.out.tables import csv_text
from scalelab.show.template import link, rendered

PAIRS = 50  # that the page shows; all of them are in the table
ANSWERS = 4  # of a pair
LINES, LETTERS = 60, 160  # of an answer, and of one of its lines


def csv(pairs: Iterable[Pair]) -> str:
    """Return the table of all pairs, a row for each answer in which two are alike."""
    rows = (
        [*pair.students, pair.rank, one.task, one.runs, one.likeness]
        for pair in pairs
        for one in pair.shared
    )
    return csv_text(["student", "other", "rank", "task", "shared", "likeness"], rows)


def html(source: Source, results: Sequence[Result], pairs: Sequence[Pair], feedback: str) -> str:
    """Return the page; `feedback` is the relative place of the students' pages."""
    listed = {one.answer for pair in pairs[:PAIRS] for one in pair.shared[:ANSWERS]}
    texts = {name: answers(results, name) for name in listed}
    rare = {name: rare_runs(source, source.by_id[name], texts[name]) for name in listed}
    rows = [
        (
            link(f"#pair-{n}", " and ".join(pair.students)),
            f"{pair.rank:.0f}",
            "; ".join(f"{one.task} ({one.likeness:.0%})" for one in pair.shared),
        )
        for n, pair in enumerate(pairs[:PAIRS])
    ]
    return rendered(
        "grading/out/side_by_side.html",
        title=f"{source.slug}: who wrote the same",
        met=MET,
        rows=rows,
        left=len(pairs) - PAIRS,
        pairs=[
            {
                "students": pair.students,
                "links": [_page_of(student, source, feedback) for student in pair.students],
                "beside": [
                    (one, _beside(source, pair, one.answer, texts, rare))
                    for one in pair.shared[:ANSWERS]
                ],
                "left": len(pair.shared) - ANSWERS,
            }
            for pair in pairs[:PAIRS]
        ],
    )


def _page_of(student, source, feedback):
    """Return a link to the page of a student."""
    place = f"{feedback}/{quote(file_name(student))}/{source.slug}/{source.slug}.html"
    return link(place, student)


def _beside(source, pair, answer, texts, rare):
    """Return an answer of both students, the lines of shared runs marked."""
    mine, other = (rare[answer][student] for student in pair.students)
    kind = source.by_id[answer].kind
    return [_marked(texts[answer][student], kind, mine & other) for student in pair.students]


def _marked(written, kind, shared):
    """Return an answer as a block in which the lines of shared runs are marked."""
    its_tokens = tokens(written, kind)
    marked: set[int] = set()
    for at, run in enumerate(runs(its_tokens)):
        if run in shared:
            marked.update(range(its_tokens[at].line, its_tokens[at + RUN - 1].line + 1))
    lines = written.split("\n")
    start = max(0, min(marked, default=1) - 1 - LINES // 4) if len(lines) > LINES else 0
    blocks = []
    for number, line in enumerate(lines[start : start + LINES], start + 1):
        cut = line if len(line) <= LETTERS else f"{line[:LETTERS]}…"
        alike = number in marked and line.strip()
        blocks.append(Markup("<mark>{}</mark>").format(cut) if alike else cut)
    left = start, max(0, len(lines) - start - LINES)
    before, after = ([f"… {n} more lines"] * bool(n) for n in left)
    return Markup("<pre>{}</pre>").format(Markup("\n").join([*before, *blocks, *after]))
