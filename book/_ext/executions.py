"""Which chapter ran when, how long, where and with what, and which of its claims held: two tables.

Every stamp leads to the first of them.

The build knows when a chapter was executed, not where; that is written down beside the cache of executed
chapters the first time a run is seen. A page shows the tables with `execution-table` and `claim-table`.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from myst_nb.ext.execution_tables import METADATA_KEY
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from scalelab.measure.host.machine import this_machine
from scalelab.show.claims import claimed

PAGE = "book/status"
HEADINGS = ("chapter", "executed", "seconds")
LIMIT = 60  # of a chapter, in seconds; a machine with other work needs more
KEPT = ("name", "system", "python", "numpy", "torch")
STAMP = re.compile(r'<span class="(sl-stamp [\w -]+)">(.*?)</span>', re.DOTALL)


def remember(file: Path, ended: dict[str, float], here: dict) -> dict[str, dict]:
    """Return where each chapter's run took place: a run not known yet was one of this build.

    `ended` says when each run ended, and tells two runs of a chapter apart.
    """
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # a first build, or a build that was cut off
        known = {}
    runs = {
        name: known[name] if known.get(name, {}).get("ended") == end else {**here, "ended": end}
        for name, end in ended.items()
    }
    file.write_text(json.dumps(runs, indent=1), encoding="utf-8")
    return runs


def executed(env) -> dict[str, dict]:
    """Return what the build knows of each executed page, in the order of their names."""
    data = NbMetadataCollector.get_doc_data(env)
    runs = {name: data[name].get("exec_data") for name in sorted(data)}
    return {name: run for name, run in runs.items() if run and run["mtime"]}


class Placeholder(nodes.General, nodes.Element):
    """Stands for a table until every chapter has run."""


class TableOfRuns(SphinxDirective):
    """Ask for a table of runs, and for this page to be written again after any of them."""

    def run(self) -> list[nodes.Node]:
        """Leave a place for the table."""
        NbMetadataCollector.set_doc_data(self.env, self.env.docname, METADATA_KEY, True)
        return [Placeholder(of=self.name)]


class PutTables(SphinxPostTransform):
    """Put the tables where they were asked for."""

    default_priority = 8

    def run(self, **_) -> None:
        """Fill each place with the table that was asked for there."""
        made = {"execution-table": self._executions, "claim-table": self._claims}
        for place in list(self.document.findall(Placeholder)):
            place.replace_self(made[place["of"]](executed(self.env)))

    @property
    def _cache(self) -> Path:
        beside = Path(self.app.outdir).parent / ".jupyter_cache"
        return Path(self.config.nb_execution_cache_path or beside)

    def _chapter(self, name, short=False) -> nodes.reference:
        link = self.app.builder.get_relative_uri(self.env.docname, name)
        title = self.env.titles[name].astext()
        told = title.partition(" ")[0] if short else title
        return nodes.reference("", told, refuri=link, internal=True)

    def _executions(self, runs) -> list[nodes.Node]:
        """Return what all runs share, and a row for each, which has a name to link to, and one for all."""
        here = {name: asdict(this_machine())[name] for name in KEPT}
        ended = {name: one["mtime"] for name, one in runs.items()}
        where = remember(self._cache / "machines.json", ended, here)
        same, differ = shared({name: _facts(where[name]) for name in runs})
        rows = []
        for name, one in runs.items():
            at = f"{datetime.fromtimestamp(one['mtime']):%Y-%m-%d %H:%M}"
            facts = [_facts(where[name])[what] for what in differ]
            row = _row(self._chapter(name), at, spent(one["runtime"]), *facts)
            rows.append(nodes.row("", *row.children, ids=[nodes.make_id(name)]))
        total = sum(round(one["runtime"]) for one in runs.values())  # of what the rows show
        last = _row("together", "", f"{total}", *("" for _ in differ))
        table = _table((*HEADINGS, *differ), [*rows, last], "runs", "totals", right=[2])
        said = f"The same for all: {', '.join(same)}."
        common = [nodes.paragraph("", said, classes=["book-machine"])] if same else []
        return [*common, table]

    def _claims(self, runs) -> nodes.Element:
        """Return a row for each claim of a chapter, in their order."""
        cache, rows = get_cache(self._cache), []
        for name in runs:
            source = nbformat.read(self.env.doc2path(name), as_version=4)
            for claim in claimed(cache.merge_match_into_notebook(source)[1]):
                outcome = "held" if claim["held"] else nodes.strong("", "did not hold")
                numbers = (_short(claim[part]) for part in ("expected", "here"))
                told = map(_set, (claim["what"], *numbers))
                rows.append(_row(self._chapter(name, short=True), *told, outcome))
        held = sum(row[-1].astext() == "held" for row in rows)
        last = _row("together", "", "", "", f"{held} of {len(rows)}")
        heads = ("section", "claim", "expected", "here", "outcome")
        return _table(heads, [*rows, last], "claims", "totals", right=[3])


def _facts(run: dict) -> dict[str, str]:
    versions = {what: run[what.lower()] for what in ("Python", "NumPy", "torch")}
    return {"machine": f"{run['name']}, {run['system']}", **versions}


def spent(seconds: float) -> str:
    """Return what a chapter took, and that this is too long.

    >>> spent(60.4), spent(60.6)
    ('60', 'over the limit: 61')
    """
    took = round(seconds)
    return "over the limit: " * (took > LIMIT) + f"{took}"


def shared(facts: dict[str, dict[str, str]]) -> tuple[list[str], list[str]]:
    """Return what all runs have in common, in words, and the names of what differs.

    >>> shared({"a": {"machine": "EPYC", "torch": "2"}, "b": {"machine": "EPYC", "torch": "3"}})
    (['EPYC'], ['torch'])
    """
    first = next(iter(facts.values()), {})
    differ = [what for what in first if len({one[what] for one in facts.values()}) > 1]
    same = {what: value for what, value in first.items() if what not in differ}
    return [v if what == "machine" else f"{what} {v}" for what, v in same.items()], differ


def _short(text: str) -> str:
    """Return a number of times as the page of notation writes it.

    >>> _short("1.25 to 3 times"), _short("at least 3 ×"), _short("12 ms")
    ('1.25 to 3×', 'at least 3×', '12 ms')
    """
    return re.sub(r"(?<=\d) (?:times|×)$", "×", text)


def _set(text: str) -> str:
    """Return a text with the signs that the rest of the page has: a true minus, a round apostrophe."""
    return re.sub(r"(?<!\w)-(?=\d)", "\N{MINUS SIGN}", text).replace(
        "'", "\N{RIGHT SINGLE QUOTATION MARK}"
    )


def _table(headings, rows, *classes, right=()) -> nodes.table:
    """Return a table; the columns at `right` are numbers."""
    columns = [nodes.colspec(colwidth=1) for _ in headings]
    head = _row(*headings)
    for entry in (row[at] for row in (head, *rows) for at in right):
        entry["classes"].append("text-right")
    body = (nodes.thead("", head), nodes.tbody("", *rows))
    group = nodes.tgroup("", *columns, *body, cols=len(headings))
    return nodes.table("", group, classes=["colwidths-auto", *classes])


def _row(*cells) -> nodes.row:
    texts = [one if isinstance(one, nodes.Node) else nodes.Text(one) for one in cells]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", one)) for one in texts))


def link_stamps(app, page, template, context, doctree):
    """Let every stamp of a page lead to the table, and to the row of its chapter where there is one."""
    if app.builder.name != "html" or PAGE not in app.env.found_docs or "body" not in context:
        return
    row = f"#{nodes.make_id(page)}" if page in executed(app.env) else ""
    link = app.builder.get_relative_uri(page, PAGE) + row
    context["body"] = STAMP.sub(rf'<a class="\1" href="{link}">\2</a>', context["body"])


def setup(app):
    """Connect the above to Sphinx."""
    app.add_node(Placeholder)
    for table in ("execution-table", "claim-table"):
        app.add_directive(table, TableOfRuns)
    app.add_post_transform(PutTables)
    app.connect("html-page-context", link_stamps)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
