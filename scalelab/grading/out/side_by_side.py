"""Who wrote the same, for the instructor to look at: a table of pairs, and their answers side by side."""

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from scalelab.grading.inputs.source import Source
from scalelab.grading.judging.result import Result, file_name
from scalelab.grading.out.similar import MET, RUN, Pair, answers, rare_runs, runs, tokens
from scalelab.grading.out.tables import csv_text
from scalelab.show.plain import Finished, link, page, table, text

PAIRS = 50  # that the page shows; all of them are in the table
ANSWERS = 4  # of a pair
LINES, LETTERS = 60, 160  # of an answer, and of one of its lines
_STYLE = (
    "<style>td { vertical-align: top; } td pre { font-size: .8rem; } "
    "mark { background: #fb06; color: inherit; }</style>"
)
_MEANING = (
    "Likeness is a reason to look and no proof: who learnt from one page, or talked about a task, may "
    "write alike, and some tasks leave little choice. Two students are listed by how much they share, in "
    "order; marked are the lines of it. Names, numbers, texts in quotes, comments and layout do not count, "
    "nor does what the release or the solution has, or more than a third of the class. Where more than "
    f"{MET} share, each stands beside the next."
)


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
    left = len(pairs) - PAIRS
    return page(
        f"{source.slug}: who wrote the same",
        _STYLE,
        f"<h1>{text(source.slug)}: who wrote the same</h1><p>{text(_MEANING)}</p>",
        table(("students", "shared, by likeness", "tasks"), rows, numbers=(1,))
        if rows
        else "<p>No two students share enough in any answer.</p>",
        f"<p>{left} more pairs are in similar.csv.</p>" * (left > 0),
        *(
            f'<h2 id="pair-{n}">{_names(source, pair.students, feedback)}</h2>'
            + "".join(_beside(source, pair, texts, rare))
            for n, pair in enumerate(pairs[:PAIRS])
        ),
    )


def _names(source, students, feedback):
    """Return the two students with links to their pages."""
    return " and ".join(
        link(f"{feedback}/{quote(file_name(student))}/{source.slug}/{source.slug}.html", student)
        for student in students
    )


def _beside(source: Source, pair: Pair, texts: dict, rare: dict) -> Iterator[str]:
    """Yield the answers of a pair that are alike, in two columns."""
    for one in pair.shared[:ANSWERS]:
        kind = source.by_id[one.answer].kind
        mine, other = (rare[one.answer][student] for student in pair.students)
        columns = [
            _marked(texts[one.answer][student], kind, mine & other) for student in pair.students
        ]
        yield f"<h3>{text(one.task)}: {one.likeness:.0%} alike, {one.runs} runs shared</h3>"
        yield table(pair.students, [columns])
    if len(pair.shared) > ANSWERS:
        yield f"<p>{len(pair.shared) - ANSWERS} more answers are alike.</p>"


def _marked(written, kind, shared):
    """Return an answer as a block in which the lines of shared runs are marked."""
    found = tokens(written, kind)
    marked: set[int] = set()
    for at, run in enumerate(runs(found)):
        if run in shared:
            marked.update(range(found[at].line, found[at + RUN - 1].line + 1))
    lines = written.split("\n")
    start = max(0, min(marked, default=1) - 1 - LINES // 4) if len(lines) > LINES else 0
    shown = []
    for number, line in enumerate(lines[start : start + LINES], start + 1):
        cut = text(line if len(line) <= LETTERS else f"{line[:LETTERS]}…")
        shown.append(f"<mark>{cut}</mark>" if number in marked and line.strip() else cut)
    left = start, max(0, len(lines) - start - LINES)
    before, after = ([f"… {n} more lines"] * bool(n) for n in left)
    return Finished("<pre>" + "\n".join([*before, *shown, *after]) + "</pre>")
