"""The anatomy that every section shares, and the places where its parts live."""

from __future__ import annotations

import functools
import itertools
import re
import statistics
import subprocess

import nbformat
import pytest
import yaml

from tests.notebooks import ROOT, SLUGS, WRITTEN, chapter, every_notebook

BOXES = {
    "big-picture",
    "correction",
    "frontier",
    "fun-note",
    "guess",
    "key-insight",
    "library-shortcut",
    "practical-example",
    "thesis-thread",
}
TOP_LEVEL = {
    *("book", "chapters", "exercises", "scalelab", "solutions", "tests"),
    *("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile", "pyproject.toml"),
    *("requirements.txt", "requirements-dev.txt", "constraints.txt"),
    *("_config.yml", "_toc.yml", "nbgrader_config.py"),
}
TAGS = {"hide-input", "remove-input", "hide-output", "wide-output", "answer"}
ASSIGNED = {path.name for path in (ROOT / "solutions").iterdir() if path.is_dir()}
STORY = ("Who", "Situation", "Problem", "Dilemma", "Decision", "How", "Result", "Lesson")
CELL_ID = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
SENTENCE_INSIDE_A_LINE = re.compile(r"[a-z0-9)$%*][.?!] +(?=[A-Z*$])")

written = pytest.mark.parametrize("slug", WRITTEN)


@functools.cache
def every_cell():
    """Return the name of every notebook with its cells; `make check` holds that they carry no outputs."""
    return [
        (str(path.relative_to(ROOT)), nbformat.read(path, as_version=4).cells)
        for path in every_notebook()
    ]


def test_every_chapter_has_a_known_slug():
    assert set(WRITTEN) <= set(SLUGS)


@written
def test_a_slug_names_its_chapter_module_and_test(slug):
    for folder, file in (("scalelab", f"{slug[3:]}.py"), ("tests", f"test_{slug[3:]}.py")):
        assert list((ROOT / folder).rglob(file)), f"{file} in {folder}/"


def test_every_chapter_has_an_assignment_and_its_release():
    for folder in ("solutions", "exercises"):
        found = {path.stem for path in (ROOT / folder).glob("*/*.ipynb")}
        assert found == ASSIGNED
    assert set(WRITTEN) == ASSIGNED


def test_the_table_of_contents_lists_exactly_the_written_chapters():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    files = [page["file"] for part in toc["parts"] for page in part["chapters"]]
    assert [file for file in files if file.startswith("chapters/")] == [
        f"chapters/{slug}" for slug in WRITTEN
    ]
    assert [file for file in files if not list(ROOT.glob(f"{file}.*"))] == []


@written
def test_a_chapter_opens_with_epigraph_question_verbs_and_one_import_cell(slug):
    page = chapter(slug)
    title, question, verbs = page.markdown[:3]
    assert re.match(r"# (3\.\d|41\.6) \S.*\n\n(> .*\n)+>\n> \*.+\*$", title)
    assert question.startswith("**The question.**")
    assert 3 <= len(re.findall(r"^- ", verbs, re.MULTILINE)) <= 5
    imports = [
        cell for cell in page.code if re.search(r"^(from|import) scalelab", cell, re.MULTILINE)
    ]
    assert len(imports) == 1
    assert page.code[0] == imports[0]


@written
def test_a_chapter_carries_its_furniture(slug):
    boxes = chapter(slug).furniture()
    assert set(boxes) <= BOXES
    assert boxes[0] == "big-picture"
    assert boxes.count("key-insight") >= 2
    for one in ("practical-example", "frontier", "fun-note"):
        assert one in boxes, one


@written
def test_a_guess_has_a_line_to_type_it_in_and_one_cell_that_answers(slug):
    """The line is a raw cell: one click, no run, and it is saved with the notebook."""
    cells = chapter(slug).nb.cells
    asked = [at for at, one in enumerate(cells) if "\n:class: guess\n" in one.source]
    assert asked
    for at, following in itertools.pairwise([*asked, len(cells)]):
        line, *rest = cells[at + 1 : following]
        assert (line.cell_type, line.source) == ("raw", "Your guess: ")
        assert line.id == f"{cells[at].id}-mine"
        answers = [one for one in rest if "answer" in one.metadata.get("tags", [])]
        assert [one.cell_type for one in answers] == ["code"]


@written
def test_sections_are_numbered_and_name_their_level(slug):
    numbered = [
        text for depth, text in chapter(slug).headings() if depth == 2 and text[0].isdigit()
    ]
    assert [int(text.split(".")[0]) for text in numbered] == list(range(1, len(numbered) + 1))
    for text in numbered:
        assert re.search(r"· \*(Beginner|Intermediate|Advanced)\*$", text), text


@written
def test_headings_never_skip_a_depth(slug):
    depths = [depth for depth, _ in chapter(slug).headings()]
    assert depths[0] == 1
    assert depths.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(depths))


@written
def test_a_chapter_closes_in_the_order_readers_expect(slug):
    headings = [text for _, text in chapter(slug).headings()]
    closing = ["Where it breaks", "Summary", "Check yourself", "Exercises", "Further reading"]
    assert headings[-len(closing) :] == closing
    assert chapter(slug).markdown[-1].startswith("**Next:**")


@written
def test_questions_fold_their_answers_and_exercises_are_three(slug):
    prose = chapter(slug).prose
    assert 3 <= prose.count(":::{dropdown} Answer") <= 5
    kinds = re.findall(r"^\*\*Exercise [\d.]+\.\d \((\w+)\)\.\*\*", prose, re.MULTILINE)
    assert sorted(kinds) == ["analysis", "coding", "conceptual"]


@written
def test_the_practical_example_tells_its_whole_story(slug):
    prose = chapter(slug).prose
    told = [prose.index(f"**{part}:**") for part in STORY]
    assert told == sorted(told)


@written
def test_a_chapter_opens_with_five_imports_at_most(slug):
    """The rest stands where a library is shown; what the chapter draws with has one name, `show`."""
    code = chapter(slug).code
    assert 3 <= len(re.findall(r"^(?:import|from) ", code[0], re.MULTILINE)) <= 5
    assert "(" not in code[0]
    assert not re.search(r"^(?:import|from) scalelab", "\n".join(code[1:]), re.MULTILINE)


@written
def test_a_chapter_shows_two_figures_one_of_them_interactive(slug):
    code = "\n".join(chapter(slug).code)
    assert code.count("explore(") >= 1
    assert code.count("explore(") + code.count("Figure(") >= 2


@written
def test_cells_stay_small(slug):
    """A thought is about 30 words, a result two to six lines; 10 to 15 words of text lead to a line."""
    page = chapter(slug)
    running = page.prose.split("## Where it breaks")[0]
    text = [cell for cell in page.markdown[3:] if cell in running and not cell.startswith(":::")]
    words = [len(re.sub(r"\$[^$]*\$", "x", cell).split()) for cell in text]
    lines = [len([line for line in code.splitlines() if line.strip()]) for code in page.code]
    assert statistics.median(words) <= 45
    assert 2 <= statistics.median(lines) <= 6
    assert max(lines[1:]) <= 12  # the first is the import cell
    assert 9 <= sum(words) / sum(lines) <= 16


@written
def test_a_line_of_prose_holds_one_sentence(slug):
    """So that a change of one sentence is a change of one line."""
    lines = [
        line
        for text in chapter(slug).markdown
        for line in text.splitlines()
        if SENTENCE_INSIDE_A_LINE.search(re.sub(r"\$[^$]*\$|\[[^]]*\]\([^)]*\)", "x", line))
        and not line.startswith(("#", "- ", "**", "> "))
    ]
    assert lines == []


def test_no_cell_is_empty():
    """JupyterLab shows a line of its own in such a cell."""
    cells = [(path, cell) for path, cells in every_cell() for cell in cells]
    assert [f"{path}: {cell.id}" for path, cell in cells if not cell.source.strip()] == []


def test_cell_ids_are_words_and_unique():
    for path, cells in every_cell():
        ids = [cell.id for cell in cells]
        assert len(ids) == len(set(ids)), path
        assert [one for one in ids if not CELL_ID.fullmatch(one)] == [], path


def test_tags_come_from_the_closed_list():
    for path, cells in every_cell():
        assert {tag for cell in cells for tag in cell.metadata.get("tags", [])} <= TAGS, path


def test_images_have_alt_text():
    unnamed = [
        (path, cell.id)
        for path, cells in every_cell()
        for cell in cells
        if cell.cell_type == "markdown" and re.search(r"!\[\s*\]\(|<img", cell.source)
    ]
    assert unnamed == []


def test_the_top_level_is_closed():
    """Whatever is new belongs into one of these."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL


@written
def test_a_claim_stands_before_its_measurement_and_is_tried_once(slug):
    """Its cell ends with its name, so that the page shows it; one later cell has the verdict."""
    code = chapter(slug).code
    for at, source in enumerate(code):
        for name in re.findall(r"^(\w+) = show\.claim\(", source, re.MULTILINE):
            assert source.strip().splitlines()[-1] == name
            tried = [i for i, one in enumerate(code) if re.search(rf"(?<![\w.]){name}\(", one)]
            assert len(tried) == 1, name
            assert tried[0] > at, name
