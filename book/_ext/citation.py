"""How to cite the book: BibTeX made from CITATION.cff, the one place that knows.

A page asks for it with the directive `cite-this-book`.
"""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def bibtex(cff: dict, year: str, url: str = "") -> str:
    """Return the entry for BibTeX; the year is that of the release, or the book's own before it."""
    year = str(cff.get("date-released", year))[:4]
    fields = {
        "author": " and ".join(map(_person, cff["authors"])),
        "title": f"{{{_tex(cff['title'])}}}",  # as it stands, capitals too
        "version": _tex(cff["version"]),
        "year": year,
        "url": url,
    }
    lines = [f"  {name:<7} = {{{text}}}," for name, text in fields.items() if text]
    return "\n".join([f"@misc{{scalelab{year},", *lines, "}"])


def _person(one: dict) -> str:
    """A person's names as BibTeX sorts them; a group's name in braces, or its last word is a surname."""
    if "name" in one:
        return f"{{{_tex(one['name'])}}}"
    return f"{_tex(one['family-names'])}, {_tex(one['given-names'])}"


def _tex(text) -> str:
    return re.sub(r"([&%$#_])", r"\\\1", str(text))


class CiteThisBook(SphinxDirective):
    """A box of BibTeX, with the copy button that all code has."""

    def run(self) -> list[nodes.Node]:
        """Read CITATION.cff, again whenever it has changed."""
        file = Path(self.env.app.srcdir) / "CITATION.cff"
        for read in (file, file.with_name("_config.yml")):
            self.env.note_dependency(str(read))
        url = self.config.html_theme_options.get("repository_url", "")
        text = bibtex(yaml.safe_load(file.read_text(encoding="utf-8")), self.config.copyright, url)
        return [nodes.literal_block(text, text, language="bibtex")]


def setup(app):
    """Add the directive to Sphinx."""
    app.add_directive("cite-this-book", CiteThisBook)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
