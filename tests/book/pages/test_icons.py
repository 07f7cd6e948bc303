"""The icons of the theme: the book brings those that its pages show."""

import re

from tests.book.test_extension import extension
from tests.notebooks import ROOT

icons = extension("icons")
HTML = ROOT / "_build" / "html"


def names(script: str) -> list[set[str]]:
    """Return the names that each icon of a script goes by."""
    return [{one[1], *re.findall(r'"([^"]+)"', one[2])} for one in icons.ICON.finditer(script)]


def test_all_icons_of_the_theme_are_known_as_such():
    all_of_them = names(icons.ALL.read_text(encoding="utf-8"))
    assert len(all_of_them) > 2000
    assert {"magnifying-glass", "search"} in all_of_them


def test_each_icon_that_a_page_shows_is_there_and_no_other():
    there = names((HTML / "_static" / icons.WHERE).read_text(encoding="utf-8"))
    pages = " ".join(file.read_text(encoding="utf-8") for file in HTML.rglob("*.html"))
    asked = re.findall(
        r'class="[^"]*\bfa[sr]? fa-([\w-]+)|class="[^"]*\bfa-solid\s+fa-([\w-]+)', pages
    )
    shown = {name for both in asked for name in both if name}
    assert {"bars", "list", "download", "sun"} <= shown
    assert [name for name in shown if not any(name in known for known in there)] == []
    asked_for = icons.shown(HTML)
    assert [known for known in there if not known & asked_for] == []
    assert len(there) < 40
