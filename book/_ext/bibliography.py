"""Sort an organisation among the authors by its name, and label it by three letters of that.

BibTeX has such a name in braces; pybtex's style `alpha` sorts by the brace, and labels with all of the name.
"""

from __future__ import annotations

import copy
import re

from pybtex.plugin import register_plugin
from pybtex.style.formatting.alpha import Style
from pybtex.style.labels.alpha import LabelStyle
from pybtex.style.sorting.author_year_title import SortingStyle


def bare(person):
    """Return a person, or an organisation without its braces."""
    if name := re.fullmatch(r"\{([^{}\\]+)\}", " ".join(person.last_names)):
        person = copy.copy(person)
        person.last_names = [name[1]]
    return person


class Labels(LabelStyle):
    """`alpha`'s, and for an organisation alone the first three letters."""

    def format_lab_names(self, persons):
        """Return the letters that stand for the authors."""
        names = [bare(one) for one in persons]
        if len(names) == 1 and names != persons:
            return re.sub(r"\W", "", names[0].last_names[0])[:3]
        return super().format_lab_names(names)


class Sorting(SortingStyle):
    """By author, year and title."""

    def person_key(self, person):
        """Return what a name is sorted by."""
        return super().person_key(bare(person))


class Sources(Style):
    """`alpha`, where an organisation may be an author."""

    default_label_style = Labels
    default_sorting_style = Sorting


def setup(app):
    """Make the style known under the name that the configuration gives it."""
    register_plugin("pybtex.style.formatting", "sources", Sources)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
