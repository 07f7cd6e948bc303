"""Nothing that is published holds a solution, a hidden check, a mark scheme or a secret."""

import functools
import html
import importlib.util
import io
import json
import random
import shutil
import tarfile
import zipfile

import pytest

from scalelab.grading.release import published
from tests.assignments.runner import ROOT, SLUGS, Assignment
from tests.cli.command import scalelab
from tests.sampling import seed

CODE = """    while doubling(workers, serial)[2] <= per_doubling:
        workers *= 2
"""
SAMPLE = "The speedup rises from 18.6 to 19.3, so the job ends 3.5% sooner."


@functools.cache
def secrets():
    return published.course_secrets(ROOT)


def found(path):
    return " ".join(published.look(path, secrets()))


def write(folder, name, text):
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return folder


def coloured(code):
    """Write code as a page does: every word in a span of its own."""
    words = html.escape(code).split(" ")
    return "<pre>" + " ".join(f'<span class="n">{w}</span>' for w in words) + "</pre>"


PUBLISHED = {
    "a page": ("3.html", coloured(CODE), "cell 'answer-1-3'"),
    "a page of prose": ("3.html", f"<p><em>{SAMPLE}</em></p>", "-1-4'"),
    "a source": ("_sources/3.md", f"text\n\n{CODE}\n", "cell 'answer-1-3'"),
    "an index": ("searchindex.js", f'Search.setIndex({{"text": "{SAMPLE}"}})', "-1-4'"),
    "a marker": ("page.md", "text\n### begin hidden tests\n", "has a marker"),
    "a folder": ("solutions/01_speedup/x.md", "text", "must not be published"),
    "a key": ("keys/ada.key", "ada", "must not be published"),
    "a download": (
        "_downloads/a.ipynb",
        json.dumps({"cells": [{"source": CODE.splitlines(keepends=True)}]}),
        "cell 'answer-1-3'",
    ),
    "an output": (
        "b.ipynb",
        json.dumps({"cells": [{"source": "", "outputs": [{"text": SAMPLE}]}]}),
        "-1-4'",
    ),
}


@pytest.mark.parametrize("kind", PUBLISHED)
def test_a_passage_is_found_wherever_it_stands(tmp_path, kind):
    name, text, says = PUBLISHED[kind]
    assert found(write(tmp_path, "index.html", "<p>Efficiency is speedup over workers.</p>")) == ""
    said = found(write(tmp_path, name, text))
    assert name in said
    assert says in said


def test_every_hidden_check_and_every_solution_of_two_lines_has_a_passage():
    for slug in SLUGS:
        guarded = {where for where in secrets().values() if where.startswith(slug)}
        for key, cell in Assignment(slug).cells.items():
            if "BEGIN HIDDEN TESTS" in cell.source or "BEGIN MARK SCHEME" in cell.source:
                assert f"{slug}, cell {key!r}" in guarded


@pytest.mark.parametrize("kind", ["whl", "tar.gz"])
def test_archives_are_opened(tmp_path, kind):
    archive = tmp_path / f"scalelab.{kind}"
    if kind == "whl":
        with zipfile.ZipFile(archive, "w") as made:
            made.writestr("scalelab/help.py", CODE)
    else:
        with tarfile.open(archive, "w:gz") as made:
            member = tarfile.TarInfo("scalelab/help.py")
            member.size = len(CODE)
            made.addfile(member, io.BytesIO(CODE.encode()))
    assert "scalelab/help.py has a passage of 01_speedup, cell 'answer-1-3'" in found(archive)


def test_a_pdf_is_read_or_refused(tmp_path):
    import matplotlib.pyplot as plt

    figure = plt.figure()
    figure.text(0.05, 0.5, SAMPLE, fontsize=7)
    figure.savefig(tmp_path / "book.pdf")
    plt.close(figure)
    if shutil.which("pdftotext") or importlib.util.find_spec("pypdf"):
        assert "-1-4'" in found(tmp_path / "book.pdf")
    else:
        with pytest.raises(ValueError, match="install pdftotext or pypdf"):
            found(tmp_path / "book.pdf")


def test_the_secret_of_a_course_is_found(tmp_path):
    shutil.copytree(ROOT / "solutions" / "01_speedup", tmp_path / "solutions" / "01_speedup")
    write(tmp_path, "course/secret", "0123456789abcdef" * 4)
    page = write(tmp_path / "book", "page.html", "<p>our word: " + "0123456789abcdef" * 4)
    own = published.course_secrets(tmp_path)
    assert published.look(page, own) == ["page.html has a passage of the course's secret"]


def test_what_this_repository_publishes_tells_nothing():
    for folder in ("exercises", "scalelab", "book", "chapters"):
        assert found(ROOT / folder) == "", folder
    if (ROOT / "_build" / "html").is_dir():
        assert found(ROOT / "_build" / "html") == ""


def test_the_command_line_says_what_and_where(tmp_path):
    def run(*paths):
        done = scalelab("leaks", *paths)
        return done.returncode, done.stdout + done.stderr

    assert run(ROOT / "exercises") == (0, "nothing was found\n")
    code, said = run(write(tmp_path, "page.html", coloured(CODE)))
    assert code == 1
    assert said == "page.html has a passage of 01_speedup, cell 'answer-1-3'\n"
    assert run(tmp_path / "none")[0] == 2
    assert run(write(tmp_path, "bad.ipynb", "{"))[1].startswith(
        "scalelab: bad.ipynb is not a notebook"
    )


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("weight=2,known=[", False),
        ('unit="s",known=[', False),
        ('what="efficiency",cases=_studies,', False),
        ("weight=2,expect=0.8125,", True),
        ("within=0.01,cases=[(8,0.05)],", True),
        ('known=[(0.5,"upsidedown")],', True),
    ],
)
def test_only_the_bare_form_of_a_check_is_no_secret(line, secret):
    assert (published._FORM.fullmatch(line) is None) is secret


def test_looking_up_pieces_finds_what_a_search_of_the_whole_text_finds():
    luck = random.Random(seed())
    known = [*published.course_secrets(ROOT)]
    for _ in range(300):
        passage = luck.choice(known)
        text = "x" * luck.randrange(40) + passage + "y" * luck.randrange(40)
        assert published._inside(text, published._pieces([passage])) == {passage}
    text = "".join(luck.sample(known, 5))
    assert published._inside(text, published._pieces(known)) == {
        one for one in known if one in text
    }
