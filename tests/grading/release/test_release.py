"""The release of an assignment is a build that refuses to leak, tried on a copy of the course."""

import shutil

import nbformat
import pytest

from scalelab.checks.keys import student_key
from scalelab.grading.release import release
from tests.assignments.runner import ROOT
from tests.cli.command import here as run

pytestmark = pytest.mark.turns(2)

SLUG = "01_speedup"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one assignment, as the current directory."""
    shutil.copy(ROOT / release.CONFIG, tmp_path)
    for folder in ("solutions", "exercises"):
        shutil.copytree(
            ROOT / folder / SLUG,
            tmp_path / folder / SLUG,
            ignore=shutil.ignore_patterns(".ipynb_checkpoints"),
        )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def notebook(course, folder="solutions"):
    return course / folder / SLUG / f"{SLUG}.ipynb"


def edit(path, change):
    """Apply `change` to the cells of a notebook, by id, and save it."""
    nb = nbformat.read(path, 4)
    change(nb, {cell.id: cell for cell in nb.cells})
    nbformat.write(nb, path)


def replace(key, old, new):
    def change(nb, cells):
        assert old in cells[key].source
        cells[key].source = cells[key].source.replace(old, new)

    return change


def add_cell(source, **metadata):
    def change(nb, cells):
        nb.cells.append(nbformat.v4.new_code_cell(source, id="extra", metadata=metadata))

    return change


def hold(key, **fields):
    def change(nb, cells):
        cells[key].update(fields)

    return change


def mark(key, **metadata):
    def change(nb, cells):
        cells[key].metadata.update(metadata)

    return change


def copy_answer(nb, cells):
    cells["question-2-2"].source += "\n\n    return int(1 + (most - 1) / serial)"


def twice(nb, cells):
    nb.cells.append(nbformat.from_dict({**cells["answer-1-1"], "id": "again"}))


def language(nb, cells):
    nb.metadata["language_info"] = {"name": "python", "version": "3.11.2"}


LEAKS = {
    "two spaces": (
        replace("answer-1-1", "BEGIN SOLUTION", "BEGIN  SOLUTION"),
        "cell 'answer-1-1' has a marker that nbgrader does not know",
    ),
    "singular": (
        replace("check-1-1", "BEGIN HIDDEN TESTS", "BEGIN HIDDEN TEST"),
        "cell 'check-1-1' has a marker that nbgrader does not know: '### BEGIN HIDDEN TEST'",
    ),
    "lower case": (
        replace("check-2-3", "BEGIN HIDDEN TESTS", "begin hidden tests"),
        "cell 'check-2-3' has a marker, or what looks like one: '### begin hidden tests'",
    ),
    "a letter lost": (
        replace("check-1-1", "BEGIN HIDDEN TESTS", "BEGIN HI" + "DEN TESTS"),
        "cell 'check-1-1' has a marker",
    ),
    "mark scheme": (
        replace("question-1-4", "BEGIN MARK SCHEME", "BEGIN MARKSCHEME"),
        "cell 'question-1-4' has a line that was to be removed",
    ),
    "no region at all": (
        replace("check-3-1", "### BEGIN HIDDEN TESTS\n", ""),
        "cell 'check-3-1' has a line of a hidden check",
    ),
    "a line copied": (copy_answer, "cell 'question-2-2' has a line that was to be removed"),
    "no role": (add_cell("answer = 42"), "cell 'extra' has no role"),
    "a tag": (mark("setup", tags=["skip-execution"]), "cell 'setup' has metadata 'tags'"),
    "an attachment": (
        hold("title", attachments={"key.png": {"image/png": ""}}),
        "cell 'title' has a field 'attachments'",
    ),
    "a version": (language, "the notebook has metadata 'language_info'"),
    "no end": (
        replace("answer-1-1", "### END SOLUTION", ""),
        "refused by nbgrader: RuntimeError: no end solution statement found",
    ),
    "a copied cell": (twice, "refused by nbgrader: "),
}


@pytest.mark.parametrize("kind", LEAKS)
def test_a_leak_is_refused_with_the_reason_and_leaves_the_release_alone(course, capsys, kind):
    change, says = LEAKS[kind]
    edit(notebook(course), change)
    before = notebook(course, "exercises").read_bytes()
    assert run("release") == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1
    assert says in errors[0]
    assert notebook(course, "exercises").read_bytes() == before


def test_a_build_replaces_the_release_and_the_check_is_satisfied(course, capsys):
    edit(notebook(course), replace("title", "What did the machines buy?", "What did you get?"))
    assert run("release", "--check") == 2
    assert capsys.readouterr().err == (
        f"scalelab: {notebook(course, 'exercises')} is out of date, run `make exercises`: "
        "cell 'title': metadata, source\n"
    )
    assert run("release", SLUG) == 0
    assert "What did you get?" in notebook(course, "exercises").read_text()
    assert run("release", "--check") == 0
    assert [p.name for p in notebook(course, "exercises").parent.iterdir()] == [f"{SLUG}.ipynb"]


def test_outputs_in_the_source_do_not_reach_the_release(course):
    before = notebook(course, "exercises").read_bytes()
    output = nbformat.v4.new_output("stream", text="the answer is 42")
    edit(notebook(course), hold("table-1", outputs=[output], execution_count=3))
    assert run("release") == 0
    assert notebook(course, "exercises").read_bytes() == before


def test_building_touches_no_gradebook_and_makes_no_secret(course):
    assert run("release") == 0
    assert sorted(p.name for p in course.iterdir()) == ["exercises", release.CONFIG, "solutions"]


@pytest.mark.parametrize("folder", ["solutions", "exercises"])
def test_a_stray_file_is_refused(course, capsys, folder):
    (course / folder / SLUG / "notes.txt").write_text("the answers")
    assert run("release") == 2
    assert f"must hold {SLUG}.ipynb only, got notes.txt as well" in capsys.readouterr().err


def test_a_broken_source_is_refused(course, capsys):
    notebook(course).write_text("{")
    assert run("release") == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_missing_release_a_missing_source_and_a_foreign_folder_are_told_apart(course, capsys):
    assert run("release", "02_hardware") == 2
    assert "an assignment is solutions/SLUG/SLUG.ipynb" in capsys.readouterr().err
    shutil.rmtree(course / "exercises")
    assert run("release", "--check") == 2
    assert "is missing: run `make exercises`" in capsys.readouterr().err
    (course / "exercises" / "00_old").mkdir(parents=True)
    assert run("release") == 2
    assert "00_old has no source in solutions/" in capsys.readouterr().err
    (course / release.CONFIG).unlink()
    assert run("release") == 2
    assert "run this from a course's root" in capsys.readouterr().err


# Exams and keys


def test_an_exam_is_built_apart_and_without_hints(course, capsys):
    before = notebook(course, "exercises").read_bytes()
    assert run("release", "--exam") == 0
    exam = course / "course" / "exam" / SLUG / f"{SLUG}.ipynb"
    assert "<details>" not in exam.read_text()
    assert notebook(course, "exercises").read_bytes() == before
    assert "<details>" in before.decode()
    assert f"built course/exam/{SLUG}/{SLUG}.ipynb" in capsys.readouterr().out


def test_a_hint_that_is_not_written_as_one_keeps_the_exam_back(course, capsys):
    edit(notebook(course), replace("check-1-1", "from scalelab", "# a hint: look\nfrom scalelab"))
    assert run("release", "--exam") == 2
    assert "cell 'check-1-1' has a hint, in an exam" in capsys.readouterr().err
    assert not (course / "course" / "exam").exists()


def test_a_hint_that_holds_a_line_of_the_solution_is_refused(course, capsys):
    line = "while doubling(workers, serial)[2] <= per_doubling:"
    edit(notebook(course), replace("question-1-3", "The bill is K times", f"{line} the bill is K"))
    assert run("release") == 2
    assert "cell 'question-1-3' has a line that was to be removed" in capsys.readouterr().err


def test_keys_are_made_for_a_course_and_stay_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCALELAB_COURSE_SECRET", raising=False)
    assert run("keys", "ada") == 2
    assert "must hold the course's secret before keys are made" in capsys.readouterr().err
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "secret").write_text("of the course\n")
    assert run("keys", "ada", "ben") == 0
    made = {p.name: p.read_text() for p in (tmp_path / "course" / "keys").iterdir()}
    assert set(made) == {"ada.key", "ben.key"}
    assert made["ada.key"].split() == student_key("ada", b"of the course").split()
    assert run("keys", "ada") == 0
    assert (tmp_path / "course" / "keys" / "ada.key").read_text() == made["ada.key"]
    for odd in ("../ben", "a b", ".hidden", ""):
        assert run("keys", odd) == 2
        assert "a student's id must be a word" in capsys.readouterr().err
