"""What the book asks of Sphinx beyond _config.yml.

Figures are told to carry the numbers of every slider position, because a page has no kernel. A chapter is
executed again when what it reaches of the package has changed, which the cache of executed notebooks cannot
know.
Their kernels talk to the build encrypted.
Assignments travel with the book as files to download, not as pages.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.execute import cache as executor
from pygments.lexers.special import TextLexer
from reach import Package
from sphinx.addnodes import pending_xref
from traitlets.config import Config

from scalelab.show.template import asset, with_one_style

ASSIGNMENTS = "exercises/"
DRAWINGS = "show/drawings/stepper"
SCRIPTS = ("figure.js", f"{DRAWINGS}.js")


def encrypt_kernels():
    """Have chapters executed by kernels that encrypt what they send: those that do not each warn of it."""
    settings = Config(KernelManager={"transport_encryption": "auto"})
    executor.single_nb_execution = functools.partial(single_nb_execution, config=settings)


def forget_stale_results(app, env, added, changed, removed):
    """Drop executed chapters when a file that they reach has changed, and have Sphinx read them again.

    What the cache holds and what the pages show were made at different times if a build was cut off.
    """
    package = Package(Path(app.srcdir))
    notebooks = {name: Path(env.doc2path(name)) for name in env.found_docs}
    notebooks = {name: path for name, path in notebooks.items() if path.suffix == ".ipynb"}
    reached = {name: package.digest(code_of(path)) for name, path in notebooks.items()}
    folder = Path(app.config.nb_execution_cache_path or Path(app.outdir).parent / ".jupyter_cache")
    drop_executed(folder, {str(notebooks[name]): digest for name, digest in reached.items()})
    shown = getattr(env, "scalelab_reached", {})
    env.scalelab_reached = reached
    return [name for name, digest in reached.items() if shown.get(name) != digest]


def code_of(notebook: Path) -> str:
    """Return the code of all cells."""
    cells = nbformat.read(notebook, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")


def drop_executed(folder: Path, reached: dict[str, str]) -> None:
    """Keep in the cache only notebooks that still reach what they reached when they were executed."""
    known = folder / "reached.json"
    before = json.loads(known.read_text()) if known.exists() else {}
    folder.mkdir(parents=True, exist_ok=True)
    cache = get_cache(folder)
    for record in cache.list_cache_records():
        if record.uri not in reached or before.get(record.uri) != reached[record.uri]:
            cache.remove_cache(record.pk)
    known.write_text(json.dumps(reached, indent=1))


def link_assignments(app, doctree):
    """Let a link to an assignment's notebook lead to its file."""
    for link in list(doctree.findall(pending_xref)):
        target = f"{link.get('reftarget')}.ipynb"
        if link.get("refdomain") == "doc" and target.startswith(ASSIGNMENTS):
            up = "../" * app.env.docname.count("/")
            link.replace_self(nodes.reference("", "", *link.children, refuri=up + target))


def link_labels(app, doctree):
    """Let `page.md#label` lead to the label on that page: MyST knows headings there, and only if told to."""
    for link in list(doctree.findall(pending_xref)):
        if link.get("refdomain") == "doc" and (label := link.get("reftargetid")):
            kind = {"refdomain": "std", "reftype": "ref", "refexplicit": True, "refwarn": True}
            link.replace_self(
                pending_xref("", *link.children, reftarget=label, refdoc=app.env.docname, **kind)
            )


def trim_code(app, doctree):
    """Leave out the empty line that ends a doctest in a page: Python needs it, a reader does not."""
    for block in list(doctree.findall(nodes.literal_block)):
        if block.rawsource == block.astext() != (code := block.astext().rstrip("\n")):
            block.rawsource = code
            block.children = []
            block += nodes.Text(code)


def copy_files(app, fault):
    """Put the assignments where links lead; copy styles, which Sphinx does with changed pages only."""
    if fault is None and app.builder.format == "html":
        shutil.copytree(
            Path(app.srcdir) / "book" / "_static", Path(app.outdir) / "_static", dirs_exist_ok=True
        )
        for name in SCRIPTS:
            (Path(app.outdir) / "_static" / Path(name).name).write_text(
                asset(name), encoding="utf-8"
            )
        source = Path(app.srcdir) / ASSIGNMENTS
        for notebook in source.glob("*/*.ipynb"):
            copy = Path(app.outdir) / ASSIGNMENTS / notebook.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(notebook, copy)


def keep_kernels_at_home(app, config):
    """Leave out the buttons that would fetch a kernel from elsewhere, and their settings."""
    for event in ("env-before-read-docs", "doctree-resolved"):
        listeners = app.events.listeners[event]
        listeners[:] = [one for one in listeners if one.handler.__module__ != "sphinx_thebe"]


def link_the_sources(app, config):
    """Put links to the published sources on each page as soon as their address is known, and only then.

    The same address starts a chapter on somebody's server; Colab takes it from GitHub alone.
    """
    options = config.html_theme_options
    there = options.get("repository_url") or ""
    for button in ("use_repository_button", "use_edit_page_button", "use_issues_button"):
        options[button] = bool(there)
    servers = options.get("launch_buttons", {}) if there else {}
    if urlsplit(there).hostname != "github.com":
        servers = {name: where for name, where in servers.items() if name != "colab_url"}
    options["launch_buttons"] = servers


def say_what_colab_lacks(app, page, template, context, doctree):
    """Put on Colab's button what to run there first: it fetches the notebook and nothing else."""
    options = app.config.html_theme_options
    there, branch = options.get("repository_url"), options.get("repository_branch")
    for group in context.get("header_buttons", []):
        for one in group.get("buttons", []) if isinstance(group, dict) else []:
            if one.get("text") == "Colab":
                one["tooltip"] += f"; there, run first: %pip install git+{there}@{branch}"


def mend_bibliography(app, page, template, context, doctree):
    """Drop the role of a list from what has no items of a list, or screen readers announce an empty one."""
    role = ' role="list" class="citation-list"'
    context["body"] = context.get("body", "").replace(role, ' class="citation-list"')


def share_the_style(app, page, template, context, doctree):
    """Keep one copy of the figures' styles, and of their scripts one for all pages."""
    body = with_one_style(context.get("body", ""))
    style = f"<style>{asset(DRAWINGS + '.css')}</style>"
    if style in body:
        body = style + body.replace(style, "")
    for name in SCRIPTS:
        one = context["pathto"](f"_static/{Path(name).name}", 1)
        body = body.replace(f"<script>{asset(name)}</script>", f'<script src="{one}"></script>')
    context["body"] = body


def setup(app):
    """Connect the above to Sphinx."""
    os.environ["SCALELAB_FIGURES"] = "replay"
    encrypt_kernels()
    app.add_lexer("csv", TextLexer)
    app.connect("env-get-outdated", forget_stale_results)
    app.connect("doctree-read", link_assignments)
    app.connect("doctree-read", link_labels)
    app.connect("doctree-read", trim_code)
    app.connect("build-finished", copy_files)
    app.connect("config-inited", keep_kernels_at_home)
    app.connect("config-inited", link_the_sources)
    app.connect("html-page-context", mend_bibliography)
    app.connect("html-page-context", say_what_colab_lacks, priority=900)
    app.connect("html-page-context", share_the_style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
