"""What the book asks of Sphinx beyond its configuration."""

import importlib
import inspect
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pybtex.database as pybtex
import pytest
import yaml
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from sphinx.application import Sphinx
from sphinx.errors import ConfigError

from scalelab.show import claim
from tests.notebooks import ROOT
from tests.sampling import sampled

pytestmark = pytest.mark.turns(2)

EXTENSIONS = ROOT / "book" / "_ext"


def extension(name):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXTENSIONS)
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def scalebook():
    return extension("scalebook")


FILES = {
    "__init__.py": '"""Nothing but `scalelab.b` in words."""\n',
    "face.py": "",
    "units.py": "",
    "rooms/__init__.py": "from scalelab.face import face\n__getattr__, __dir__ = face(__name__, 'a b')\n",
    "rooms/a.py": "from scalelab import units\ndef half(x):\n    from scalelab.deep import below\n",
    "rooms/b.py": "from scalelab import units\nTWICE = 2\n",
    "rooms/numbers.csv": "1,2",
    "deep/__init__.py": "",
    "deep/below.py": "",
    "deep/other.py": "from scalelab.rooms import b\n",
    "deep/recorded/run.json": "{}",
    "data/__init__.py": "",
    "data/series.csv": "1",
    "data/text.py": "",
    "reader.py": "resources.files('scalelab.data')\n",
    "server.py": "run([executable, '-m', 'scalelab.deep.below'])\n",
}
CODE = {
    "all": "from scalelab import rooms\nprint(rooms)",
    "half": "from scalelab import rooms as r\nr.half(1)",
    "twice": "from scalelab.rooms import TWICE",
    "module": "from scalelab.rooms import b",
}


@pytest.fixture
def package(tmp_path):
    """A folder with a small package."""
    write(tmp_path, FILES)
    return tmp_path


def write(folder, files):
    for name, text in files.items():
        file = folder / "scalelab" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def reached(folder, code):
    files = extension("reach").Package(folder).reached(code)
    return {file.relative_to("scalelab").as_posix() for file in files}


def digests(folder):
    return {name: extension("reach").Package(folder).digest(code) for name, code in CODE.items()}


@pytest.mark.parametrize(
    ("name", "stale"),
    [
        ("deep/below.py", {"all", "half"}),  # imported in a function
        ("rooms/b.py", {"all", "twice", "module"}),
        ("deep/recorded/run.json", {"all", "half"}),  # data of a room
        ("deep/other.py", set()),
        ("units.py", set(CODE)),
        ("__init__.py", set(CODE)),
        ("rooms/numbers.csv", set(CODE)),
    ],
)
def test_a_change_makes_those_chapters_stale_that_reach_it(package, name, stale):
    before = digests(package)
    assert digests(package) == before
    with (package / "scalelab" / name).open("a") as file:
        file.write("\n")
    after = digests(package)
    assert {one for one in CODE if before[one] != after[one]} == stale


def test_moving_a_file_makes_stale_the_chapters_that_reached_it(package):
    before = digests(package)
    rooms = package / "scalelab" / "rooms"
    (rooms / "b.py").rename(rooms / "c.py")
    after = digests(package)
    assert {one for one in CODE if before[one] != after[one]} == {"all", "twice", "module"}


def test_a_name_that_moves_to_another_module_of_its_room_takes_the_chapter_along(package):
    before = digests(package)
    write(package, {"rooms/c.py": "TWICE = 2\n"})
    after = digests(package)
    assert {one for one in CODE if before[one] != after[one]} == {"all", "twice"}


@pytest.mark.parametrize(
    "code",
    [
        "import scalelab",
        "from scalelab import *",
        "%time 1",
        "!scalelab fit table.csv",
        "from . import units",
        "run(['scalelab', 'fit'])",
        "import_module('scalelab.' + name)",
        "import_module('scalelab.gone')",
        "from scalelab import gone",
    ],
)
def test_what_cannot_be_resolved_reaches_everything(package, code):
    assert reached(package, code) >= {name for name in FILES if name.endswith(".py")}


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("import numpy\nprint('scalelab: 1')", set()),
        ("from scalelab import server", {"server.py", "deep/below.py", "deep/recorded/run.json"}),
        ("from scalelab import reader", {"reader.py", "data/series.csv"}),
        ("import scalelab.units as u", {"units.py"}),
        (
            "if TYPE_CHECKING:\n    import scalelab\nelse:\n    from scalelab import units",
            {"units.py"},
        ),
        (
            "from scalelab.deep.other import b",
            {
                "deep/other.py",
                "deep/recorded/run.json",
                "rooms/b.py",
                "rooms/numbers.csv",
                "units.py",
            },
        ),
    ],
)
def test_a_chapter_reaches_what_is_imported_run_or_read_for_it(package, code, files):
    first = {"face.py", *(name for name in FILES if name.endswith("__init__.py"))}
    assert reached(package, code) - first == files


def test_a_page_is_read_again_until_a_build_has_kept_what_it_shows(scalebook, package):
    """A build that is cut off has changed its cache, and not what Sphinx remembers of its pages."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CODE["half"])])
    nbformat.write(notebook, package / "a.ipynb")
    settings = SimpleNamespace(nb_execution_cache_path="")
    app = SimpleNamespace(srcdir=package, outdir=package / "_build" / "html", config=settings)

    def outdated(remembered):
        env = SimpleNamespace(found_docs={"a", "b"}, **remembered)
        env.doc2path = lambda name: package / f"{name}{'.ipynb' if name == 'a' else '.md'}"
        return scalebook.forget_stale_results(app, env, set(), set(), set()), env

    assert outdated({})[0] == ["a"]
    stale, env = outdated({})
    assert stale == ["a"]
    assert outdated({"scalelab_reached": env.scalelab_reached})[0] == []


def test_a_source_that_python_cannot_read_reaches_everything(package):
    write(package, {"deep/below.py": "def"})
    assert reached(package, CODE["half"]) == set(FILES)


def home(value):
    """The file of the package in which a value is defined, or the first page of a room."""
    name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "")
    module = sys.modules.get(name if isinstance(name, str) else "")
    file = Path(getattr(module, "__file__", None) or "/")
    return file.relative_to(ROOT) if file.is_relative_to(ROOT / "scalelab") else None


def taken_of(value, names):
    """Return what a source takes of a name: through rooms and modules, up to the first thing in them."""
    for name in names.split("."):
        if inspect.ismodule(value):
            value = getattr(value, name)
    return value


def test_a_chapter_reaches_the_home_of_all_that_python_imports_for_its_cells():
    reach, scalebook = extension("reach"), extension("scalebook")
    package, files = reach.Package(ROOT), {}
    for chapter in sorted((ROOT / "chapters").glob("*.ipynb")):
        code = scalebook.code_of(chapter)
        source, files[chapter] = reach.read(code), package.reached(code)
        for module, name, here in source.imports:
            exec(f"from {module} import {name} as value", space := {})
            value = space["value"]
            taken = [taken_of(value, one) for one in source.asked[here] or ()]
            homes = {home(one) for one in (value, *taken)} - {None}
            assert homes, (chapter, name)
            assert homes <= files[chapter], (chapter, name)
    assert Path("scalelab/units.py") in set.intersection(*files.values())
    for chapter, own in files.items():
        others = [more for other, more in files.items() if other != chapter]
        assert own - set().union(*others), chapter


PUBLISHED = ["https://github.com/someone/a-book", "https://gitlab.com/someone/a-book"]


@pytest.fixture(scope="module", params=sampled(["", *PUBLISHED], 1))
def small_book(request, tmp_path_factory):
    """A small book with our settings, its sources unpublished or published: (where, page, chapter)."""
    folder = tmp_path_factory.mktemp("book")
    for name in ("CITATION.cff", "book/_static", "book/_ext", "book/references.bib"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(exist_ok=True)
        copy(ROOT / name, folder / name)
    (folder / "book" / "page.md").write_text(
        "# A page\n\n"
        "Look [there](other.md#somewhere): `queue_of.calls(share=1.5, e)`, `batch_size`, `--out`, "
        "`--submission-seconds`, `scalelab fit`, `course/feedback/01_speedup`, `c.Some_01_speedup.html`, "
        "`an.other_name_that_no_column_holds`.\n\n"
        "```{cite-this-book}\n```\n\n```python\n>>> 1 + 1\n2\n\n```\n\n"
        ":::{table}\n:class: stacked\n\n| word | here | it's |\n|---|---|--:|\n| a | b | 1 |\n\n:::\n"
    )
    (folder / "book" / "other.md").write_text("# Another\n\n(somewhere)=\n## Far down\n\nHere.\n")
    title = nbformat.v4.new_markdown_cell("# A chapter")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(
        nbformat.v4.new_notebook(cells=[title], metadata=kernel), folder / "book" / "chapter.ipynb"
    )
    files = [{"file": "book/other"}, {"file": "book/chapter"}]
    toc = {"format": "jb-book", "root": "book/page", "chapters": files}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    settings = yaml.safe_load((ROOT / "_config.yml").read_text())
    options = settings["sphinx"]["config"]["html_theme_options"]
    options["repository_url"] = request.param
    options["launch_buttons"]["jupyterhub_url"] = "https://hub.example.edu"
    settings["sphinx"]["config"]["redirects"] = {"old": "book/page"}
    (folder / "_config.yml").write_text(yaml.safe_dump(settings))
    command = [Path(sys.executable).with_name("jupyter-book"), "build", folder, "-q", "-n", "-W"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    pages = [folder / "_build" / "html" / "book" / f"{name}.html" for name in ("page", "chapter")]
    return request.param, *(BeautifulSoup(one.read_bytes(), "html.parser") for one in pages)


def test_one_setting_puts_links_to_the_sources_on_each_page_and_without_it_there_is_none(
    small_book,
):
    there, page, _ = small_book
    links = [link["href"] for link in page.select("a[href]")]
    outside = sorted((one for one in links if "someone" in one or "/edit/" in one), key=len)
    assert "" not in links
    if not there:
        assert outside == []
        assert page.select("[class*=btn-source-]") == []
        return
    home, edit, issue = outside
    on_github = "github" in there
    between = "" if on_github else "/-"
    assert (home, edit) == (there, f"{there}{between}/edit/main/book/page.md")
    assert issue.startswith(f"{there}{between}/issues/new?")


def test_the_same_setting_puts_a_way_to_run_it_on_each_chapter_and_on_no_other_page(small_book):
    """Binder and a hub take it from anywhere, Colab from GitHub; and Colab brings the notebook alone."""
    there, page, chapter = small_book
    assert page.select(".dropdown-launch-buttons") == []
    buttons = {
        one.text.strip(): one for one in chapter.select(".dropdown-launch-buttons a.dropdown-item")
    }
    if not there:
        assert buttons == {}
        return
    github = "github" in there
    assert set(buttons) == {"Binder", "JupyterHub", *(["Colab"] if github else [])}
    binder, hub = (buttons[name]["href"] for name in ("Binder", "JupyterHub"))
    source = "gh/someone/a-book" if github else "gl/someone%2Fa-book"
    assert binder == f"https://mybinder.org/v2/{source}/main?urlpath=lab/tree/book/chapter.ipynb"
    assert hub.startswith("https://hub.example.edu/hub/user-redirect/git-pull?repo=https%3A//g")
    assert "urlpath=lab/tree/a-book/book/chapter.ipynb&branch=main" in hub
    if github:
        notebook = "github/someone/a-book/blob/main/book/chapter.ipynb"
        assert buttons["Colab"]["href"] == f"https://colab.research.google.com/{notebook}"
        assert f"%pip install git+{there}@main" in buttons["Colab"]["title"]


def test_a_link_to_a_label_on_another_page_leads_there_and_not_to_its_top(small_book):
    """The 31 corrections share a page, and each chapter means one of them."""
    _, page, _ = small_book
    assert page.find("a", string="there")["href"] == "other.html#somewhere"


def test_code_among_text_breaks_after_its_punctuation_and_reads_as_it_did(small_book):
    _, page, _ = small_book
    code, short, option, longer, words, *files = page.select("p > code.literal")
    assert code.text == "queue_of.calls(share=1.5, e)"
    assert code.decode_contents().count("<wbr") == 2
    assert [mark.previous_sibling for mark in code.select("wbr")] == ["queue_of.", "calls("]
    assert not short.select("wbr"), "it fits on the next line"
    assert [one.text for one in page.select(".pre.together")] == [option.text, longer.text]
    assert (option.text, longer.text) == ("--out", "--submission-seconds")
    assert [one.text for one in page.select("code.together")] == [words.text] == ["scalelab fit"]
    parts = [one.select_one(".pre").decode_contents().split("<wbr/>") for one in files]
    assert parts == [
        ["course/", "feedback/", "01_speedup"],
        ["c.Some_01_speedup.html"],
        ["an.", "other_", "name_", "that_", "no_", "column_", "holds"],
    ]


def test_a_cell_of_a_stacked_table_knows_its_head(small_book):
    _, page, _ = small_book
    cells = page.select("table.stacked td")
    assert [(one["data-head"], one.text) for one in cells] == [
        ("word", "a"),
        ("here", "b"),
        ("it’s", "1"),
    ]


def test_a_doctest_on_a_page_has_no_empty_line_at_its_end(small_book):
    _, page, _ = small_book
    assert page.select_one(".highlight-python pre").text == ">>> 1 + 1\n2\n"


def test_a_chapter_is_executed_in_private_and_its_own_warnings_are_kept(scalebook, capfd):
    """What passes between the build and its kernels is encrypted, or ipykernel complains of each chapter."""
    said = "import ipykernel.kernelapp as k, warnings; warnings.warn('mine')"
    asked = "k.IPKernelApp.instance().curve_secretkey is not None"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"{said}\n{asked}")])
    scalebook.encrypt_kernels()
    done = scalebook.executor.single_nb_execution(
        notebook, cwd=None, timeout=60, allow_errors=False
    )
    assert done.err is None
    warned, found = notebook.cells[0].outputs
    assert "UserWarning: mine" in warned["text"]
    assert found["data"]["text/plain"] == "True"
    assert "WARNING" not in capfd.readouterr().err


def test_a_guess_has_the_name_of_its_cell_whatever_stands_before_it(tmp_path):
    """A reader's guess is kept under it, over every new edition of the page."""
    box = "{admonition} Guess first\n:class: guess\nHow many?\n:::"
    asking = [nbformat.v4.new_markdown_cell(f":::{box}", id=name) for name in ("second", "first")]
    before = nbformat.v4.new_markdown_cell("One thought more, about :class: guess.", id="new")
    env = SimpleNamespace(docname="page", doc2path=lambda name: tmp_path / f"{name}.ipynb")
    for cells in (asking, [before, *asking]):
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "page.ipynb")
        page = new_document("page")
        page += [nodes.admonition(classes=[kind]) for kind in ("guess", "key-insight", "guess")]
        extension("guesses").name_boxes(SimpleNamespace(env=env), page)
        assert [one["ids"] for one in page] == [["second"], [], ["first"]]


def test_the_page_cites_what_the_citation_file_says(small_book):
    there, page, _ = small_book
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    text = page.select_one(".highlight-bibtex pre").text
    fields = dict(re.findall(r"^  (\w+) += \{+(.*?)\}+,$", text, re.M))
    assert fields.pop("url", "") == there
    assert fields == {
        "author": said["authors"][0]["name"],
        "title": said["title"],
        "version": str(said["version"]),
        "year": yaml.safe_load((ROOT / "_config.yml").read_text())["copyright"],
    }
    entry = pybtex.parse_string(text, "bibtex").entries["scalelab2026"]
    assert [str(one) for one in entry.persons["author"]] == ["{The scalelab authors}"]


def test_a_person_a_date_and_odd_characters_are_cited_as_bibtex_wants_them():
    authors = [{"family-names": "Lovelace", "given-names": "Ada"}, {"name": "A & B"}]
    cff = {"title": "50 % of C#", "authors": authors, "version": 2, "date-released": "2031-02-03"}
    entry = extension("citation").bibtex(cff, "2026")
    assert "author  = {Lovelace, Ada and {A \\& B}}," in entry
    assert "title   = {{50 \\% of C\\#}}," in entry
    assert entry.startswith("@misc{scalelab2031,")
    assert "url" not in entry


def build_with_redirects(folder, table):
    """Build two pages by plain Sphinx with this table of renamed ones, and return where."""
    (folder / "source" / "part").mkdir(parents=True)
    (folder / "source" / "index.rst").write_text("Home\n====\n\n.. toctree::\n\n   part/new\n")
    (folder / "source" / "part" / "new.rst").write_text("New\n===\n")
    out = folder / "out"
    settings = {"extensions": ["redirects"], "redirects": table}
    places = (folder / "source", None, out, folder / "trees", "html", settings)
    Sphinx(*places, status=None, warning=io.StringIO()).build()
    return out


def test_an_old_address_leads_to_the_new_one_from_every_depth(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXTENSIONS)
    out = build_with_redirects(tmp_path, {"a/b/old": "part/new", "old": "part/new"})
    for name in ("a/b/old.html", "old.html"):
        page = BeautifulSoup((out / name).read_bytes(), "html.parser")
        refresh = page.select_one("noscript meta[http-equiv=refresh]")["content"]
        targets = {
            page.select_one("link[rel=canonical]")["href"],
            page.select_one("a")["href"],
            refresh.removeprefix("0; url="),
        }
        assert len(targets) == 1
        assert ((out / name).parent / targets.pop()).resolve() == out / "part" / "new.html"


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ({"old": "part/gone"}, "old leads to 'part/gone', which is no page"),
        ({"old": "older", "older": "part/new"}, "old leads to 'older', which is no page"),
        ({"old": None}, "old leads to None, which is no page"),
        ({"part/new": "index"}, "part/new still exists"),
        ({"../old": "index"}, "'../old' is no page's name"),
        ({7: "index"}, "7 is no page's name"),
        (["old"], "expected a table"),
    ],
)
def test_a_redirect_that_leads_nowhere_stops_the_build(tmp_path, monkeypatch, table, fault):
    monkeypatch.syspath_prepend(EXTENSIONS)
    with pytest.raises(ConfigError, match=fault):
        build_with_redirects(tmp_path, table)


def test_a_run_keeps_the_machine_it_was_first_seen_on(tmp_path):
    """Another computer builds the book: it ran one chapter anew, added one, and dropped one."""
    remember = extension("executions").remember
    file = tmp_path / "machines.json"
    first = remember(file, {"a": 1.5, "b": 2.5, "c": 3.5}, {"name": "old", "torch": "2.12"})
    assert {one["name"] for one in first.values()} == {"old"}
    again = remember(file, {"a": 1.5, "b": 9.5, "d": 9.75}, {"name": "new", "torch": "2.13"})
    assert {name: one["torch"] for name, one in again.items()} == {
        "a": "2.12",
        "b": "2.13",
        "d": "2.13",
    }
    assert remember(file, {"a": 1.5, "b": 9.5, "d": 9.75}, {"name": "third"}) == again
    file.write_text('{"a": ')  # a build that was cut off
    assert remember(file, {"a": 1.5}, {"name": "new"}) == {"a": {"name": "new", "ended": 1.5}}


def test_a_chapter_over_the_limit_says_so_and_one_that_rounds_to_it_does_not():
    spent = extension("executions").spent
    assert [spent(one) for one in (3.4, 60.4, 60.6)] == ["3", "60", "over the limit: 61"]


def test_what_all_runs_share_is_told_once_and_what_differs_in_each_row():
    shared = extension("executions").shared
    one, other = {"machine": "EPYC", "torch": "2"}, {"machine": "EPYC", "torch": "3"}
    assert shared({"a": one, "b": one}) == (["EPYC", "torch 2"], [])
    assert shared({"a": one, "b": other}) == (["EPYC"], ["torch"])
    assert shared({}) == ([], [])


def test_the_status_page_has_a_row_for_every_claim_of_every_chapter(tmp_path, monkeypatch):
    executions = extension("executions")
    claims = {
        "one": [claim("It's fast", least=-1.0, otherwise="Look.")(value) for value in (-1.5, 2.0)],
        "two": [
            claim("It waits", most=3.0, unit="s", otherwise="Look.")(1.0),
            claim("It gains", least=1.25, most=3.0, unit="times", otherwise="Look.")(1.5),
            claim("It is late", least=-0.02, most=0.25, unit="%", otherwise="Look.")(0.045),
        ],
    }
    for name in claims:
        nbformat.write(
            nbformat.v4.new_notebook(metadata={"name": name}), tmp_path / f"{name}.ipynb"
        )

    def executed(source):
        outputs = [
            nbformat.v4.new_output("display_data", one._repr_mimebundle_())
            for one in claims[source.metadata.name]
        ]
        return None, nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell("", outputs=[one]) for one in outputs]
        )

    cache = SimpleNamespace(merge_match_into_notebook=executed)
    monkeypatch.setattr(executions, "get_cache", lambda _: cache)
    env = SimpleNamespace(doc2path=lambda name: tmp_path / f"{name}.ipynb")
    page = SimpleNamespace(_cache=tmp_path, env=env, _chapter=lambda name, short: nodes.Text(name))
    table = executions.PutTables._claims(page, list(claims))
    _, *told, last = [[cell.astext() for cell in row.children] for row in table.findall(nodes.row)]
    assert last == ["together", "", "", "", "4 of 5"]
    assert [(row[0], row[1], row[-1]) for row in told] == [
        ("one", "It’s fast", "did not hold"),
        ("one", "It’s fast", "held"),
        ("two", "It waits", "held"),
        ("two", "It gains", "held"),
        ("two", "It is late", "held"),
    ]
    assert told[0][2:4] == ["at least −1", "−1.5"]
    assert [row[2:4] for row in told[3:]] == [["1.25 to 3×", "1.5×"], ["−2 to 25%", "4.5%"]]
