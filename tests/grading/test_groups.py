"""Groups: who hands in for others, on a real assignment, from the folders to the gradebook."""

import csv
import json
import shutil
import zipfile

import pytest
from nbgrader.api import Gradebook

from scalelab.grading.box import bubblewrap
from scalelab.grading.inputs import course as courses, groups
from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.flag import GRAVE, HARMLESS
from scalelab.grading.inputs.source import load
from scalelab.grading.judging import result as results
from scalelab.grading.release.keys import hand_out
from scalelab.refusal import Refusal
from tests.notebooks import ROOT
from tests.submissions import classes, stage as stages

pytestmark = pytest.mark.turns(3)

SLUG = "05_laws"
LAWS = load(ROOT, SLUG)
RELEASED = json.loads((ROOT / "exercises" / SLUG / f"{SLUG}.ipynb").read_text())
HEAD = "assignment,group,student\n"
WALLS = pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)


def work(answers=None, notebook=RELEASED):
    """Return the bytes of the released notebook with some answers."""
    made = json.loads(json.dumps(notebook))
    for cell in made["cells"]:
        cell["source"] = (answers or {}).get(cell["id"], cell["source"])
    return json.dumps(made).encode()


FIRST = next(cell.id for cell in LAWS.cells if cell.answer)
ONE, OTHER, MORE = ({FIRST: f"x = {text}"} for text in ("1", "2", "1 + 1 + 1"))


# --- which work counts ---------------------------------------------------------------------------


def counting(*handed):
    """Return the submission that counts of (student, bytes, time) and its last flag."""
    submissions = [Submission(student, data, when=when) for student, data, when in handed]
    students = tuple(one.student for one in submissions)
    found = groups.counting(groups.Group("4", students), submissions, LAWS)
    return (found.student, found.flags[-1].text, found.flags[-1].gravity) if found else None


@pytest.mark.parametrize(
    ("ada", "ben", "counts"),
    [
        ((work(ONE), "2027-03-02T10:00"), (work(OTHER), "2027-03-02T09:00+00:00"), "ada"),
        ((work(ONE), "2027-03-02T10:00"), (work(OTHER), "2027-03-02T10:00+01:00"), "ada"),
        ((work(ONE), "2027-03-02T10:00"), (work(OTHER), "2027-03-03"), "ben"),
        ((work(ONE), ""), (work(OTHER), "2027-03-03"), "ben"),
        ((work(ONE), ""), (work(MORE), ""), "ben"),
        ((work(ONE), ""), (work(OTHER), ""), "ada"),
        ((b"{", "2027-03-03"), (work(OTHER), ""), "ben"),
        ((b"", ""), (b"{", ""), "ada"),
    ],
)
def test_of_different_work_in_a_group_the_latest_counts_then_the_longest_and_that_is_grave(
    ada, ben, counts
):
    other = "ada" if counts == "ben" else "ben"
    said = f"handed in by {counts}, of group 4; {other} handed in other work, which does not count"
    assert counting(("ada", *ada), ("ben", *ben)) == (counts, said, GRAVE)


def test_an_untouched_notebook_in_a_group_is_no_work_however_late_it_comes():
    said = "handed in by ada, of group 4"
    assert counting(("ada", work(ONE), ""), ("ben", work(), "2027-03-03")) == (
        "ada",
        said,
        HARMLESS,
    )


def test_members_who_hand_in_the_same_cost_no_look():
    again = json.dumps(json.loads(work(ONE)), indent=4).encode()
    found = counting(("ada", work(ONE), ""), ("ben", again, ""), ("cleo", None, ""))
    said = "handed in by ada, of group 4; ben handed in the same"
    assert found == ("ada", said, HARMLESS)


def test_a_group_of_one_and_a_group_without_work_are_like_no_group():
    alone = groups.counting(groups.Group("4", ("ada",)), [Submission("ada", work(ONE))], LAWS)
    assert (alone.student, alone.flags) == ("ada", [])
    assert counting(("ada", None, ""), ("ben", None, "")) is None


# --- the table -----------------------------------------------------------------------------------


@pytest.fixture
def empty(tmp_path):
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    (tmp_path / "course").mkdir()
    return courses.find(tmp_path)


def test_groups_are_those_of_the_assignment(empty):
    place = empty.root / "course" / "groups.csv"
    place.write_text(f"{HEAD}{SLUG},4,cleo\n\n{SLUG},4,ada\n01_speedup,4,ben\n{SLUG},5,ben\n,,\n")
    found = {group.name: group.students for group in groups.groups(empty, SLUG)}
    assert found == {"4": ("ada", "cleo"), "5": ("ben",)}
    place.unlink()
    assert groups.groups(empty, SLUG) == []


def test_a_student_in_two_groups_of_one_assignment_is_refused(empty):
    place = empty.root / "course" / "groups.csv"
    place.write_text(f"{HEAD}{SLUG},4,ada\n{SLUG},5,ben\n01_speedup,9,ada\n{SLUG},5,ada\n")
    says = "course/groups.csv must have 'ada' once for 05_laws, got it again in line 5: mend it"
    with pytest.raises(Refusal) as refusal:
        groups.groups(empty, SLUG)
    assert str(refusal.value) == says


# --- the whole way -------------------------------------------------------------------------------


def hand_in(root, student, data, when="2025-03-01 12:00:00 UTC"):
    place = root / "course" / "submitted" / student / SLUG
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{SLUG}.ipynb").write_bytes(data)
    (place / "timestamp.txt").write_text(when)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course with groups, graded, which no test changes."""
    root = stages.course(tmp_path_factory.mktemp("groups"), SLUG)
    (root / "course").mkdir()
    (root / "course" / "groups.csv").write_text(
        HEAD + "".join(f"{SLUG},{group},{student}\n" for student, group in GROUPS.items())
    )
    (root / "course" / "secret").write_text("a word")
    hand_out(root / "course", ["ada", "ben"])
    stage = stages.of(root)
    done = json.dumps(stage.honest()).encode()
    hand_in(root, "ben", done)
    hand_in(root, "dan", work(), "2025-03-02")
    hand_in(root, "eve", done)
    hand_in(root, "kim", work())
    yield root, grade(root)
    classes.close()


GROUPS = {
    "ada": "four",
    "ben": "four",
    "zoe": "four",
    "dan": "5",
    "eve": "5",
    "ivy": "6",
    "jon": "6",
}


@pytest.fixture
def course(graded, tmp_path):
    root = tmp_path / "course of one"
    shutil.copytree(graded[0], root)
    return root


def grade(root, **wish):
    """Grade the class; return {student: result} as they are kept."""
    classes.grade(root, executor=classes.here, gradebook=True, **wish)
    return kept(root)


def kept(root):
    place = root / "course" / "graded" / SLUG / "results"
    found = map(results.read, sorted(place.glob("*.json")))
    return {result["student"]: result for result in found}


def shared(result):
    return {n: v for n, v in result.items() if n not in ("student", "platform_id", "by")}


def scores(root):
    with (root / "course" / "graded" / SLUG / "scores.csv").open(newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@WALLS
def test_one_hand_in_is_a_result_a_page_and_a_row_for_every_member(graded):
    root, found = graded
    most = stages.of(root).most
    assert [*found] == ["ada", "ben", "dan", "eve", "ivy", "jon", "kim", "zoe"]
    assert {s: found[s]["score"] for s in ["ada", "ben", "zoe", "dan", "eve"]} == dict.fromkeys(
        ["ada", "ben", "zoe", "dan", "eve"], most
    )
    assert shared(found["ada"]) == shared(found["ben"]) == shared(found["zoe"])
    assert [found[s]["status"] for s in ("ivy", "jon")] == ["missing"] * 2
    assert [flag["text"] for flag in found["ada"]["flags"]] == ["handed in by ben, of group four"]
    table = scores(root)
    assert {table[s]["score"] for s in ["ada", "ben", "zoe", "dan", "eve"]} == {f"{most}"}
    for student in ("ada", "ben", "zoe", "dan"):
        page = root / "course" / "feedback" / student / SLUG / f"{SLUG}.html"
        assert f"<p>{student}; " in page.read_text()
    with Gradebook(f"sqlite:///{root / 'course' / 'gradebook.db'}") as book:
        assert {book.find_submission(SLUG, s).score for s in ("ada", "zoe", "eve")} == {most}
    report = json.loads((root / "course" / "graded" / SLUG / "report.json").read_text())
    assert report["states"]["missing"] == 2
    assert len(report["students"]) == 8
    assert sum(report["histogram"]) == 6


@WALLS
@pytest.mark.parametrize("student", ["ada", "ben"])
def test_who_asks_for_one_member_of_a_group_gets_all(course, student):
    before = kept(course)
    hand_in(course, "zoe", work(ONE), "2025-03-05")
    found = grade(course, only=(student,))
    flag = "handed in by zoe, of group four; ben handed in other work, which does not count"
    assert {found[s]["score"] for s in ("ada", "ben", "zoe")} == {0.0}
    assert [flag["text"] for flag in found["ben"]["flags"]] == [flag]
    assert {s: found[s] for s in ("dan", "eve", "kim")} == {
        s: before[s] for s in ("dan", "eve", "kim")
    }
    assert scores(course)["ada"]["score"] == "0.0"


@WALLS
def test_a_group_resumes_without_running_anything(course, monkeypatch):
    before = kept(course)
    monkeypatch.setattr(classes, "here", None)  # whoever asks for a worker fails
    classes.grade(course, executor=lambda: None, resume=True, gradebook=True)
    assert kept(course) == before


@WALLS
def test_another_members_later_work_is_graded_anew_for_all_also_task_by_task(course):
    stage = stages.of(course)
    hand_in(course, "ada", work(ONE), "2025-03-05")
    number = LAWS.titles[stage.id(stages.ONE, "check")].split(" ")[0].rstrip(".")
    found = grade(course, tasks=(number,))
    assert {found[s]["score"] for s in ("ada", "ben", "zoe")} == {0.0}
    (course / "course" / "submitted" / "ada" / SLUG / "timestamp.txt").write_text("2025-02-01")
    found = grade(course, resume=True)
    assert {found[s]["score"] for s in ("ada", "ben", "zoe")} == {stage.most}
    assert found["ada"]["by"] == "ben"
    assert "by" not in found["ben"]


@WALLS
def test_a_group_is_graded_by_the_numbers_of_the_one_who_handed_in(course):
    before = kept(course)
    (course / "course" / "groups.csv").unlink()
    alone = grade(course)["ben"]  # who has a key, and handed in what eve did, who has none
    assert before["ada"]["keys"] == before["zoe"]["keys"] == alone["keys"]
    assert before["eve"]["keys"] != alone["keys"]


@WALLS
def test_without_its_group_everybody_stands_alone_again(course):
    (course / "course" / "groups.csv").unlink()
    found = grade(course, resume=True)
    assert {s: one["status"] for s, one in found.items()} == {
        "ada": "missing", "ben": "graded", "dan": "graded", "eve": "graded",
        "ivy": "missing", "jon": "missing", "kim": "graded", "zoe": "missing",
    }  # fmt: skip
    assert not (course / "course" / "feedback" / "ada" / SLUG).exists()


@WALLS
def test_a_group_of_a_platforms_archive_has_a_row_for_every_member(course):
    name = f"{SLUG}.ipynb"
    (course / "course" / "groups.csv").write_text(f"{HEAD}{SLUG},4,Ada L\n{SLUG},4,Ben M\n")
    with zipfile.ZipFile(course / "all.zip", "w") as file:
        file.writestr(f"Ada L_7_assignsubmission_file_/{name}", work(ONE))
        file.writestr(f"Ben M_8_assignsubmission_file_/{name}", work())
    grade(course, submitted=course / "all.zip", only=("Ben M",))
    table = scores(course)
    assert [table[s]["remarks"] for s in ("Ada L", "Ben M")] == [
        "handed in by Ada L, of group 4"
    ] * 2
    found = kept(course)
    assert [found[s]["platform_id"] for s in ("Ada L", "Ben M")] == ["7", "8"]
    assert table["ben"]["remarks"] == "handed in by ben, of group four"  # of an earlier run


@WALLS
def test_a_text_of_a_group_is_read_once_and_one_member_may_be_given_other_points(course):
    texts = [cell.id for cell in LAWS.cells if cell.manual]
    check = next(cell.id for cell in LAWS.cells if cell.check)
    most = stages.of(course).most

    def mark(student, cell, score, comment=None, extra=None):
        with Gradebook(f"sqlite:///{course / 'course' / 'gradebook.db'}") as book:
            grade = book.find_grade(cell, SLUG, SLUG, student)
            grade.manual_score, grade.extra_credit = score, extra
            grade.needs_manual_grade = False  # as formgrader does
            if comment:
                book.find_comment(cell, SLUG, SLUG, student).manual_comment = comment
            book.db.commit()

    def told():
        """Return {student: points} of the group and who waits to be read, as both tables have them."""
        grade(course, resume=True)
        ours = {s: float(scores(course)[s]["score"]) for s in ("ada", "ben", "zoe")}
        with Gradebook(f"sqlite:///{course / 'course' / 'gradebook.db'}") as book:
            rows = {s: book.find_submission(SLUG, s) for s in ours}
            assert {s: row.score for s, row in rows.items()} == ours
            return ours, [s for s, row in rows.items() if row.needs_manual_grade]

    for text in texts:
        mark("ben", text, 1.0, "Well said.")
    given = most + len(texts)
    assert told() == (dict.fromkeys(("ada", "ben", "zoe"), given), [])
    page = course / "course" / "feedback" / "zoe" / SLUG / f"{SLUG}.html"
    assert page.read_text().count("Well said.") == len(texts)
    mark("ben", texts[0], 3.0)  # a second thought
    mark("ben", check, 0.0, extra=0.5)
    given += 2.5 - LAWS.by_id[check].points
    assert told() == (dict.fromkeys(("ada", "ben", "zoe"), given), [])
    mark("ada", texts[0], 0.0)  # who wrote none of it
    assert told() == ({"ada": given - 3.0, "ben": given, "zoe": given}, [])
    assert told() == ({"ada": given - 3.0, "ben": given, "zoe": given}, [])
    mark("ben", texts[1], None)
    assert told() == (
        {"ada": given - 4.0, "ben": given - 1.0, "zoe": given - 1.0},
        ["ada", "ben", "zoe"],
    )
