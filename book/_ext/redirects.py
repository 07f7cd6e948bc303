"""Old addresses of renamed pages: small files that lead on, from a table in _config.yml.

    redirects: {book/old_name: book/new_name}

An address already shared or printed goes on working, with its #fragment, from a server or from disk.
"""

from __future__ import annotations

import posixpath
import re
from html import escape
from pathlib import Path
from urllib.parse import quote

from sphinx.errors import ConfigError

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{url}">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<script>location.replace({script} + location.hash);</script>
<noscript><meta http-equiv="refresh" content="0; url={url}"></noscript>
<p>This page has moved to <a href="{url}">{name}</a>.</p>
</html>
"""


def check(app, env):
    """Stop the build at an entry that leads nowhere, or that an existing page hides."""
    table = app.config.redirects
    if not isinstance(table, dict):
        raise ConfigError(f"redirects in _config.yml: expected a table of old: new, got {table!r}")
    for old, new in table.items():
        if not isinstance(old, str) or not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)*", old):
            problem = f"{old!r} is no page's name: write it as in _toc.yml, like book/old_name"
        elif old in env.found_docs:
            problem = f"{old} still exists: remove the page, or this entry"
        elif new not in env.found_docs:
            problem = f"{old} leads to {new!r}, which is no page: name one of _toc.yml"
        else:
            continue
        raise ConfigError(f"redirects in _config.yml: {problem}")


def page(old: str, new: str) -> str:
    """Return the file that stands at an old address, and works wherever the book is opened."""
    url = quote(posixpath.relpath(f"{new}.html", posixpath.dirname(old) or "."))
    return PAGE.format(url=escape(url), script=f'"{url}"', name=escape(new))


def write(app, fault):
    """Write one file for each old address."""
    if fault is None and app.builder.name == "html":
        for old, new in app.config.redirects.items():
            file = Path(app.outdir) / f"{old}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(page(old, new), encoding="utf-8")


def setup(app):
    """Connect the above to Sphinx."""
    app.add_config_value("redirects", {}, "env", [dict])
    app.connect("env-check-consistency", check)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
