"""What is read from a notebook: real assignments, with what students did to them."""

import json
import re

import pytest

from scalelab.grading.inputs import course, read
from scalelab.grading.inputs.flag import GRAVE, HARMLESS
from scalelab.grading.inputs.source import load
from scalelab.grading.out.remarks import grouped
from tests.assignments.runner import SLUGS
from tests.notebooks import ROOT
from tests.sampling import sampled

SLUG = "01_speedup"
SOURCE = load(ROOT, SLUG)
OTHERS = course.texts_of_others(ROOT, SLUG)


def notebook(folder="exercises", slug=SLUG):
    """Return the release of an assignment, or its solution, as plain JSON data."""
    return json.loads((ROOT / folder / slug / f"{slug}.ipynb").read_text())


def cell_of(made, name):
    return next(cell for cell in made["cells"] if cell["id"] == name)


def own(text, kind="markdown"):
    cell = {"cell_type": kind, "metadata": {}, "id": f"x{len(text)}", "source": text}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def put(made, after, *cells):
    at = made["cells"].index(cell_of(made, after)) + 1
    made["cells"][at:at] = cells
    return made


def handed(made, others=OTHERS):
    return read.read(json.dumps(made).encode(), SOURCE, others)


# --- the wrong assignment ------------------------------------------------------------------------

PAIRS = [pytest.param(a, b, id=f"{a} as {b}") for a in SLUGS for b in SLUGS if a != b]


@pytest.mark.parametrize(("given", "wanted"), sampled(PAIRS, 4))
@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_the_notebook_of_another_week_is_refused_and_named(given, wanted, folder):
    data = json.dumps(notebook(folder, given)).encode()
    with pytest.raises(read.NotASubmission, match=f"^it is {given}, not {wanted}$"):
        read.read(data, load(ROOT, wanted), course.texts_of_others(ROOT, wanted))


def test_the_notebook_of_another_week_is_named_without_its_tags_too():
    made = notebook(slug="05_laws")
    for n, cell in enumerate(made["cells"]):
        cell["metadata"], cell["id"] = {}, f"c{n}"
    with pytest.raises(read.NotASubmission, match="it is 05_laws, not 01_speedup"):
        handed(made)


def test_the_notebook_of_another_course_is_refused_though_nobody_knows_it():
    with pytest.raises(
        read.NotASubmission, match="it has mostly the questions of another assignment"
    ):
        handed(notebook(slug="05_laws"), others={})


def changed(change):
    """Return the solution with a change of every cell that is no answer; None takes it out."""
    made = notebook("solutions")
    cells = []
    for cell in made["cells"]:
        text = cell["source"] = "".join(cell["source"])
        if not cell["id"].startswith("answer"):
            cell["source"] = change(cell, text)
        if cell["source"] is not None:
            cells.append(cell)
    made["cells"] = cells
    return made


def code_only(how):
    return lambda cell, text: how(text) if cell["cell_type"] == "code" else text


@pytest.mark.parametrize(
    "change",
    [
        code_only(lambda text: text.replace("    ", "\t").replace('"', "'")),
        code_only(lambda text: None),
        code_only(lambda text: ""),
        code_only(lambda text: "# my own check\nassert True"),
        lambda cell, text: None,
        lambda cell, text: text.replace("\n", "  \n") + "\n",
        lambda cell, text: text + "\n\nmy notes",
    ],
    ids=["formatted", "no checks", "emptied", "rewritten", "only answers", "spaces", "notes"],
)
def test_an_honest_notebook_is_never_taken_for_another(change):
    found = handed(changed(change))
    assert len(found.answers) == 13
    assert all(any(texts) for texts in found.answers.values())


@pytest.mark.parametrize("slug", sampled(SLUGS, 3))
def test_a_release_is_the_notebook_of_its_own_assignment_and_not_worked_on(slug):
    source, others = load(ROOT, slug), course.texts_of_others(ROOT, slug)
    for folder, done in (("exercises", False), ("solutions", True)):
        data = json.dumps(notebook(folder, slug)).encode()
        assert read.worked_on(data, source, others) == done


# --- remarks -------------------------------------------------------------------------------------


def test_what_is_said_of_many_cells_is_one_line_that_counts_them():
    formatted = changed(code_only(lambda text: text.replace("    ", "\t")))
    lines = grouped(SOURCE, handed(formatted).flags)
    says = r"the (check|given cell) of .*was changed; the course's own was used \((\d+) times\)"
    found = [re.fullmatch(says, line.text) for line in lines]
    assert {one[1] for one in found} == {"check", "given cell"}
    assert sum(int(one[2]) for one in found) == len(handed(formatted).flags)

    stripped = notebook("solutions")
    for n, cell in enumerate(stripped["cells"]):
        cell["metadata"], cell["id"] = {}, f"c{n}"
    (line,) = grouped(SOURCE, [f for f in handed(stripped).flags if "lost its tag" in f.text])
    says = "has lost its tag and was found after its question (10 times)"
    assert line == (f"the answer of 1.1, 1.2, 1.3 and 7 more {says}", HARMLESS)


# --- what only people see ------------------------------------------------------------------------


def test_a_text_in_a_cell_beside_the_untouched_stub_is_the_one_that_is_read():
    made = put(notebook(), "answer-1-4", own("I would not sign."), own("Because of the floor."))
    put(made, "question-2-4", own("It depends on s."))
    found = handed(made)
    assert found.answers["answer-1-4"] == ("I would not sign.\n\nBecause of the floor.",)
    assert found.answers["answer-2-4"] == ("It depends on s.",)
    assert found.own == []
    says = "was left as it was; the text written beside it is read"
    assert [*map(str, found.flags)] == [f"answer-1-4 {says}", f"answer-2-4 {says}"]


def test_a_text_beside_an_answer_that_was_written_stays_the_students_own():
    made = put(notebook(), "answer-1-4", own("See above."), own("x = 1", "code"))
    put(made, "title", own("My name"))
    cell_of(made, "answer-1-4")["source"] = "I would not sign."
    found = handed(made)
    assert found.answers["answer-1-4"] == ("I would not sign.",)
    assert found.own == [
        {"after": "title", "kind": "markdown", "text": "My name"},
        {"after": "answer-1-4", "kind": "markdown", "text": "See above."},
        {"after": "answer-1-4", "kind": "code", "text": "x = 1"},
    ]
    assert found.extras == {"answer-1-4": ["x = 1"]}


def test_a_picture_pasted_into_an_explanation_is_not_cut_off_with_the_outputs():
    made, picture = notebook(), {"image.png": {"image/png": "iVBORw0KGgo="}}
    pasted = own("![it](attachment:image.png)") | {"attachments": picture}
    put(made, "answer-1-4", pasted)
    cell_of(made, "answer-2-4").update(pasted, id="answer-2-4")
    code = own("x = 1", "code") | {"outputs": [{"attachments": picture}], "attachments": picture}
    found = handed(put(made, "answer-1-1", code))
    assert found.attachments == {"answer-1-4": picture, "answer-2-4": picture}
    odd = [7, {"a": 7}, {"a": {"image/png": ["iVBOR", 7, "w0"]}}, {"\ud800": {"image/png": None}}]
    for attachments in odd:
        cell_of(made, "answer-2-4")["attachments"] = attachments
        json.dumps(handed(made).attachments).encode()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_of_many_pasted_pictures_those_are_kept_that_there_is_room_for(encoding):
    made = notebook()
    for n, answer in enumerate(("answer-1-4", "answer-2-4", "answer-3-5"), 1):
        large = {f"{n}.png": {"image/png": "iVBORw0KGgo" + "A" * 800_000}}
        cell_of(made, answer).update(source=f"![it](attachment:{n}.png)", attachments=large)
    found = read.read(json.dumps(made).encode(encoding), SOURCE, OTHERS)
    assert {*found.attachments} == {"answer-1-4", "answer-2-4"}
    assert found.answers["answer-3-5"] == ("![it](attachment:3.png)",)


def test_what_was_typed_into_a_question_or_a_check_is_kept_and_flagged_where_the_answer_is_blank():
    made = notebook()
    for name, text in (("question-1-4", "\nI would not sign."), ("check-1-1", "\ncrossing = 3")):
        cell = cell_of(made, name)
        cell["source"] = "".join(cell["source"]) + text
    found = handed(made)
    assert found.typed == {"question-1-4": "I would not sign.", "check-1-1": "crossing = 3"}
    strayed = {str(flag) for flag in found.flags if flag.gravity == GRAVE}
    says = "was left as it was; something is written in"
    assert strayed == {f"answer-1-4 {says} question-1-4", f"answer-1-1 {says} check-1-1"}


def test_a_check_in_another_layout_holds_nothing_typed():
    found = handed(changed(lambda cell, text: text.replace("    ", "  ").replace('"', "'")))
    hidden = [name for name in found.typed if not name.startswith(("check", "question"))]
    assert hidden == []  # the solution's checks and mark schemes are more than the release has


def test_what_only_people_see_is_bounded():
    made = put(notebook(), "title", *[own("x" * 90_000) for _ in range(20)])
    cell_of(made, "title")["source"] = "y" * 900_000
    cell_of(made, "setup")["source"] = "z" * 900_000
    found = handed(made)
    assert sum(len(cell["text"]) for cell in found.own) == read.LETTERS
    assert sum(map(len, found.typed.values())) <= read.LETTERS


def test_no_pattern_has_a_possessive_group_that_old_pythons_get_wrong():
    """Before 3.11.5 they go on at the wrong place where a round fails that has begun: nothing was read."""
    groups = [
        body
        for path in (ROOT / "scalelab").rglob("*.py")
        for body in re.findall(r"\((?:\?:)?((?:[^()\\\n]|\\.)*)\)[*+?]\+", path.read_text("utf-8"))
    ]
    assert len(groups) > 3
    assert [one for one in groups if re.search(r"\||\.(?![?*]\+)|\?(?!\+)", one)] == []
