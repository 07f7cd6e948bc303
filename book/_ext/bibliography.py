"""Sort an organisation among the authors by its name, and leave a title as it is written.

BibTeX has such a name in braces, by which the style `plain` of pybtex sorts; and that style makes small
letters of a title.
The text cites by author and year, so the number before an entry is not shown, and an entry begins with the
surname by which it is sorted. The year stands in round brackets, as chapters write it.
"""

from __future__ import annotations

import copy
import re

from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style
from pybtex.style.names.lastfirst import NameStyle
from pybtex.style.sorting.author_year_title import SortingStyle
from pybtex.style.template import field, href, join, node, sentence
from sphinxcontrib.bibtex.plugin import register_plugin as register_reference_style
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle


def bare(person):
    """Return a person, or an organisation without its braces."""
    if name := re.fullmatch(r"\{([^{}\\]+)\}", " ".join(person.last_names)):
        person = copy.copy(person)
        person.last_names = [name[1]]
    return person


class Sorting(SortingStyle):
    """By author, year and title."""

    def person_key(self, person):
        """Return what a name is sorted by."""
        return super().person_key(bare(person))


@node
def by_surname(children, context):
    """Return the authors, of whom the first begins with the surname."""
    first, *others = context["entry"].persons["author"]
    named = [NameStyle().format(first), *map(context["style"].format_name, others)]
    return join(sep=", ", sep2=", and ", last_sep=", and ")[named].format_data(context)


class Sources(Style):
    """`plain`, where an organisation may be an author and a title keeps its letters."""

    default_sorting_style = Sorting

    def format_names(self, role, as_sentence=True):
        """Return who wrote it, found by surname, or who edited it."""
        if role != "author":
            return super().format_names(role, as_sentence)
        return sentence[by_surname()] if as_sentence else by_surname()

    def format_title(self, e, which_field, as_sentence=True):
        """Return a title as it stands in the file."""
        title = field(which_field)
        return sentence[title] if as_sentence else title

    def format_url(self, e):
        """Return the address alone: what links to GitHub shows of it owner and repository only."""
        return href(field("url", raw=True))[field("url", raw=True)]


class Round(AuthorYearReferenceStyle):
    """By author and year, Amdahl (1967) or (Amdahl, 1967)."""

    def __init__(self):
        here = BracketStyle(left="(", right=")")
        super().__init__(bracket_textual=here, bracket_parenthetical=here)


def setup(app):
    """Make the styles known under the names that the configuration gives them."""
    register_plugin("pybtex.style.formatting", "sources", Sources)
    register_reference_style("sphinxcontrib.bibtex.style.referencing", "round", Round)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
