"""What an instructor keeps in course/*.csv: read as people write it, refused in one sentence."""

import random
import shutil

import pytest

from scalelab.grading import classroom
from scalelab.grading.inputs import course as courses
from scalelab.grading.inputs.extensions import extensions
from scalelab.grading.inputs.lists import BYTES, rows
from scalelab.grading.inputs.source import load
from scalelab.grading.judging import grade_all
from scalelab.refusal import Refusal
from tests.notebooks import ROOT

SLUG = "05_laws"
HEAD = "student,assignment,due\n"


@pytest.fixture
def course(tmp_path):
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    (tmp_path / "course").mkdir()
    return courses.find(tmp_path)


def put(course, text, name="extensions.csv"):
    place = course.root / "course" / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "Student, ASSIGNMENT ,due\n ada , 05_laws,2027-03-08T18:00 \n",
        "\ufeffstudent,assignment,due\r\n\r\nada,05_laws,2027-03-08T18:00\r\n,,\r\n",
        "student;assignment;due\nada;05_laws;2027-03-08T18:00\n",
        "student\tassignment\tdue\nada\t05_laws\t2027-03-08T18:00",
        "student,assignment,due,note\nada,05_laws,2027-03-08T18:00,a\u2028b\n",
        'note,due,assignment,student,,\n"by mail,\nMonday",2027-03-08T20:00+02:00,05_laws,ada,,\n',
    ],
)
def test_a_table_is_read_as_spreadsheets_write_it(course, text):
    put(course, text)
    found = {student: f"{due:%m-%d %H:%M %z}" for student, due in extensions(course, SLUG).items()}
    assert list(found) == ["ada"]
    assert found["ada"] in ("03-08 18:00 +0000", "03-08 20:00 +0200")


@pytest.mark.parametrize("text", [None, "", "\ufeff", "\n\n", HEAD])
def test_a_table_that_is_not_there_or_empty_has_no_rows(course, text):
    if text is not None:
        put(course, text)
    assert extensions(course, SLUG) == {}


WRONG = [
    ("cleo,05_laws,soon\n", "line 1 with the columns student, assignment, due, each once, got 'cl"),
    (HEAD.replace("\n", ",Student\n"), "each once, got 'student, assignment, due, Student'"),
    (HEAD + "cleo,05_laws,soon\n", "a time such as 2027-03-08T18:00, got 'soon' in line 2"),
    (HEAD + "cleo,01_speedup,soon\n", "a time such as 2027-03-08T18:00, got 'soon' in line 2"),
    (HEAD + "\n,05_laws,2025-03-03\n", "something in column student, got nothing in line 3"),
    (HEAD + "cleo\n", "something in column assignment, got nothing in line 2"),
    (HEAD + "cleo,05_laws,2025-03-03\n" * 2, "'cleo' once for 05_laws, got it again in line 3"),
    (HEAD + "Bach, J. S.,05_laws,2025-03-03\n", "at most 3 cells in a row, those with a comma"),
    (HEAD + 'cleo,05_laws,"2025\n' + "ben,05_laws,2025-03-03\n" * 9, "a CSV table, got .* line 2"),
    (HEAD + "x" * 200_000, "a CSV table, got another (field larger than field limit"),
    (HEAD.encode("utf-16"), "its text in UTF-8, got another encoding"),
    ("é".encode("latin-1"), "its text in UTF-8, got another encoding"),
    (b"x" * (BYTES + 1), "at most 5 MB, got more"),
]


@pytest.mark.parametrize(("text", "says"), WRONG)
def test_what_is_wrong_in_a_table_is_one_sentence_with_its_line(course, text, says):
    put(course, text)
    with pytest.raises(Refusal) as refusal:
        extensions(course, SLUG)
    said = str(refusal.value)
    assert said.startswith("course/extensions.csv must have ")
    assert all(part in said for part in says.split(".*"))
    assert len(said.splitlines()) == 1
    assert len(said) < 250


def test_a_slip_in_the_name_of_an_assignment_is_no_rule_that_nobody_follows(course):
    (course.root / "solutions" / SLUG).mkdir(parents=True)
    put(course, HEAD + f"ada,{SLUG},2027-03-08\nben,05_law,2027-03-08\n")
    with pytest.raises(Refusal, match=r"of an assignment, such as 05_laws, got '05_law' in line 3"):
        extensions(course, SLUG)


def test_a_folder_in_a_tables_place_is_refused(course):
    (course.root / "course" / "extensions.csv").mkdir()
    with pytest.raises(Refusal, match="rows that can be read, got an error"):
        extensions(course, SLUG)


def test_a_random_table_gives_rows_or_one_sentence(course):
    luck = random.Random(1)
    for _ in range(500):
        text = bytearray(f"{HEAD}ada,05_laws,2027-03-08\n".encode() * 2)
        for _ in range(luck.randint(1, 9)):
            at = luck.randrange(len(text))
            text[at : at + luck.randint(0, 3)] = luck.choices(b'",;\n\r\0\x1b\xff ada5', k=3)
        put(course, bytes(text))
        found, said = [], ""
        try:
            found = rows(course, "extensions.csv", ("student", "assignment", "due"))
        except Refusal as refusal:
            said = str(refusal)
        assert said.isprintable()
        assert all(row["student"] and row["due"] and not row["other"] for row in found)


def test_a_bad_row_is_refused_before_anything_runs(course):
    for folder in ("solutions", "exercises"):
        shutil.copytree(ROOT / folder / SLUG, course.root / folder / SLUG)
    put(course, HEAD + "cleo,05_laws,soon\n")
    with pytest.raises(Refusal, match="got 'soon' in line 2"):
        classroom.grade(course, load(course.root, SLUG), classroom.Wish(), None, grade_all.slots)
    assert not course.graded.exists()
