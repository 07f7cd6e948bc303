"""Whose files count, and which: real assignments in folders and archives, as people hand them in."""

import io
import json
import os
import random
import re
import subprocess
import sys
import time
import zipfile
from functools import partial

import pytest

from scalelab.grading.inputs import collect, course, read
from scalelab.grading.inputs.skim import without_outputs
from scalelab.grading.inputs.source import load
from tests.notebooks import ROOT
from tests.sampling import sampled

pytestmark = pytest.mark.turns(3)

SLUG = "01_speedup"
WANTED = f"{SLUG}.ipynb"
SOURCE = load(ROOT, SLUG)
LOOK = partial(read.worked_on, source=SOURCE, others=course.texts_of_others(ROOT, SLUG))
RELEASED = (ROOT / "exercises" / SLUG / WANTED).read_bytes()
DONE = (ROOT / "solutions" / SLUG / WANTED).read_bytes()
OTHER = (ROOT / "exercises" / "05_laws" / "05_laws.ipynb").read_bytes()
EARLY, LATE = (2027, 3, 1, 12, 0, 0), (2027, 3, 2, 12, 0, 0)


def archive(members):
    """Return the bytes of a zip file of {name: data or (data, time)}."""
    with io.BytesIO() as place:
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
            for name, what in members.items():
                data, when = what if isinstance(what, tuple) else (what, EARLY)
                file.writestr(zipfile.ZipInfo(name, when), data, zipfile.ZIP_DEFLATED)
        return place.getvalue()


def downloaded(tmp_path, members, **wish):
    """Collect an archive; return {student: submission}."""
    place = tmp_path / "all.zip"
    place.write_bytes(archive(members))
    return {one.student: one.loaded() for one in collect.collect(place, SLUG, look=LOOK, **wish)}


def handed_in(tmp_path, files, student="ada", **wish):
    """Collect a folder of one student's {name: data or (data, seconds)}; return the submission."""
    for name, what in files.items():
        data, when = what if isinstance(what, tuple) else (what, 1_000_000)
        path = tmp_path / student / SLUG / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (when, when))
    found = collect.collect(tmp_path, SLUG, look=LOOK, **wish)
    return next(one for one in found if one.student == student).loaded()


def is_done(submission):
    """Say whether it is the notebook in which everything is answered."""
    return submission.data is not None and json.loads(submission.data) == json.loads(DONE)


# --- a time that cannot be read ------------------------------------------------------------------

DECIMAL = b"9" * 42 + b"h" + b"9" * 25 + b"." + b"9" * 31  # of which decimal says InvalidOperation


@pytest.mark.parametrize("stamp", [DECIMAL, b"", b"\xff\x00", b"2027-02-30", b"9" * 90 + b" UTC"])
def test_a_timestamp_that_no_parser_bears_is_a_flag_and_not_the_end_of_the_class(tmp_path, stamp):
    handed_in(tmp_path, {WANTED: DONE}, student="ben")
    found = handed_in(tmp_path, {WANTED: DONE, "timestamp.txt": stamp})
    assert (found.when, [*map(str, found.flags)]) == (
        "",
        ["timestamp.txt holds no time that can be read"],
    )
    assert is_done(found)


@pytest.mark.parametrize(
    ("stamp", "when", "flags"),
    [
        (b"2027-03-31 23:00:00 UTC", "2027-03-31T23:00:00+00:00", []),
        (b"2027-04-01 23:00:00 UTC", "2027-04-01T23:00:00+00:00", []),
        (b"2099-01-01", "", ["its time of hand-in, 2099-01-01 00:00, is still to come"]),
    ],
)
def test_a_time_that_is_still_to_come_is_a_flag_and_no_time(tmp_path, stamp, when, flags):
    found = handed_in(tmp_path, {WANTED: DONE, "timestamp.txt": stamp})
    assert (found.when, [*map(str, found.flags)]) == (when, flags)


def test_a_random_timestamp_never_ends_the_class(tmp_path):
    luck = random.Random(1)
    place = tmp_path / "ada" / SLUG
    place.mkdir(parents=True)
    for _ in range(300):
        stamp = bytearray(b"2027-03-01 12:00:00.123456 UTC")
        for _ in range(luck.randint(1, 8)):
            at = luck.randrange(len(stamp))
            stamp[at : at + luck.randint(0, 2)] = luck.choices(b"0123456789hT.:+-/ ,eEamp", k=3)
        (place / "timestamp.txt").write_bytes(stamp)
        (found,) = collect.collect(tmp_path, SLUG)
        assert found.when or found.flags, stamp


def test_what_nobody_foresaw_is_one_students_trouble(tmp_path):
    def look(data):
        raise ZeroDivisionError("by a bug")

    for student in ("ada", "ben"):
        handed_in(tmp_path, {WANTED: DONE}, student=student)
    found = [one.loaded() for one in collect.collect(tmp_path, SLUG, look=look)]
    assert [one.reason for one in found] == [
        "it cannot be collected (ZeroDivisionError: by a bug)"
    ] * 2


def test_hostile_names_in_an_archive_take_no_time(tmp_path):
    names = [
        "/a_1_assignsubmission_file_" * 700,
        "_1" * 9000,
        f"a_{SLUG}" * 90,
        "/x" * 499,
        "1_" * 499,
    ]
    members = {f"{n}{name}.ipynb": DONE for n in range(40) for name in names}
    begin = time.process_time()
    found = downloaded(tmp_path, members | {f"ada_{WANTED}": DONE})
    assert time.process_time() - begin < 20.0  # most of it for reading; seconds for each before
    assert is_done(found["ada"])


# --- archives ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "student"),
    [
        ("Maria Garcia_{}_assignsubmission_file_/" + WANTED, "Maria Garcia"),
        ("smithjohn_{}_222_" + WANTED, "smithjohn"),
    ],
)
def test_two_students_of_one_name_are_not_merged(tmp_path, names, student):
    found = downloaded(tmp_path, {names.format(1001): DONE, names.format(2002): (RELEASED, LATE)})
    assert list(found) == [f"{student}_1001", f"{student}_2002"]
    assert [one.platform_id for one in found.values()] == ["1001", "2002"]
    one, two = found.values()
    assert is_done(one)
    assert not is_done(two)
    assert f"shares the name with {student}_2002: told apart by the platform's number" in map(
        str, one.flags
    )
    assert f"shares the name with {student}_1001: told apart by the platform's number" in map(
        str, two.flags
    )


@pytest.mark.parametrize(
    "names",
    [
        "{} Garcia_{}_assignsubmission_file_/{}_" + WANTED,
        "{} Garcia_{}_assignsubmission_file_{}_" + WANTED,
        "garcia{}_{}_222_{}_" + WANTED,
        "garcia{}_LATE_{}_222_{}_" + WANTED,
    ],
)
def test_the_instructors_page_has_a_pattern_that_finds_logins_in_an_archive(tmp_path, names):
    page = (ROOT / "book" / "instructor.md").read_text()
    (pattern,) = re.findall(r"--pattern \\\n +'([^']+)'$", page, re.M)
    members = {names.format("Maria", 1001, "mg_7"): DONE, names.format("Ana", 2002, "ana"): DONE}
    found = downloaded(tmp_path, members, pattern=pattern)
    assert {name: one.platform_id for name, one in found.items()} == {"ana": "2002", "mg_7": "1001"}
    assert all(is_done(one) and one.flags == [] for one in found.values())
    members = {f"Maria Garcia_1001_assignsubmission_file_/{WANTED}": DONE}
    (other,) = downloaded(tmp_path, members, pattern=pattern).values()
    assert "the file's name does not tell the student" in map(str, other.flags)


def test_a_student_without_a_namesake_keeps_the_plain_name(tmp_path):
    (found,) = downloaded(tmp_path, {f"Ada L_7_assignsubmission_file_/{WANTED}": DONE}).values()
    assert (found.student, found.platform_id, found.flags) == ("Ada L", "7", [])


@pytest.mark.parametrize("name", ["mycode.py", "work.rar", "01_speedup.ipynb.txt", "essay"])
@pytest.mark.parametrize(
    "place",
    ["Ada L_7_assignsubmission_file_/{}", "Ada L_7_99_{}", "Ada L/01_speedup/{}", "Ada L/{}"],
)
def test_who_hands_in_something_else_fails_and_does_not_vanish(tmp_path, place, name):
    members = {place.format(name): b"x", f"ben_{WANTED}": DONE}
    found = downloaded(tmp_path, members)
    assert sorted(found) == ["Ada L", "ben"]
    assert found["Ada L"].reason == f"handed in as {name}, which is no notebook"


def test_a_notebook_whose_ending_is_in_capitals_is_read_in_an_archive(tmp_path):
    found = downloaded(tmp_path, {"Ada_7_assignsubmission_file_/01_SPEEDUP.IPYNB": DONE})
    assert is_done(found["Ada"])


def test_a_draft_or_a_checkpoint_beside_it_in_an_archive_does_not_count(tmp_path):
    place = "Ada_7_assignsubmission_file_/"
    found = downloaded(
        tmp_path,
        {
            f"{place}{WANTED}": DONE,
            f"{place}zz_draft.ipynb": (RELEASED, LATE),
            f"{place}.ipynb_checkpoints/01_speedup-checkpoint.ipynb": (RELEASED, LATE),
            f"__MACOSX/{place}._{WANTED}": (b"x", LATE),
        },
    )
    assert is_done(found["Ada"])
    assert [*map(str, found["Ada"].flags)] == [
        f"2 notebooks; {WANTED} counts, not zz_draft.ipynb (untouched)"
    ]
    assert found["Ada"].when == "2027-03-01T12:00:00"


def test_a_folder_within_a_students_folder_is_no_other_student(tmp_path):
    members = {f"ada/{WANTED}": RELEASED, f"ada/final/{WANTED}": DONE, "ada/data/a.csv": b"1"}
    found = downloaded(tmp_path, members)
    assert list(found) == ["ada"]
    assert is_done(found["ada"])


def test_a_pattern_of_ones_own_tells_who_handed_in_no_notebook_too(tmp_path):
    pattern = r"(?i)HW-(?P<student>\w+)\.ipynb"
    found = downloaded(tmp_path, {"hw-ada.ipynb": DONE, "hw-ben.py": b"x"}, pattern=pattern)
    assert is_done(found["ada"])
    assert found["ben"].reason == "handed in as hw-ben.py, which is no notebook"


# --- which notebook counts -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({WANTED: (RELEASED, 2e6), "01_speedup-Copy1.ipynb": DONE},
         f"2 notebooks; 01_speedup-Copy1.ipynb counts, not {WANTED} (untouched)"),
        ({"final.ipynb": DONE, "draft.ipynb": RELEASED},
         "2 notebooks; final.ipynb counts, not draft.ipynb (untouched)"),
        ({WANTED: DONE, "draft.ipynb": b"{}"},
         f"2 notebooks; {WANTED} counts, not draft.ipynb (it is not a notebook: it has no cells)"),
        ({WANTED: OTHER, "mine.ipynb": DONE},
         f"2 notebooks; mine.ipynb counts, not {WANTED} (it is 05_laws, not 01_speedup)"),
    ],
)  # fmt: skip
def test_an_untouched_or_unreadable_copy_never_beats_one_with_answers(tmp_path, files, says):
    found = handed_in(tmp_path, files)
    assert is_done(found)
    assert says in map(str, found.flags)


def answered(text):
    """Return the released notebook with one answer."""
    notebook = json.loads(RELEASED)
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "answer-1-1")
    cell["source"] = text
    return json.dumps(notebook).encode()


@pytest.mark.parametrize(
    ("seconds", "counts"), [(2_000_000, "b = 2"), (1_000_030, "a = 1"), (900_000, "a = 1")]
)
def test_of_two_with_answers_the_later_counts_and_at_the_same_time_the_expected_one(
    tmp_path, seconds, counts
):
    files = {WANTED: answered("a = 1"), "other.ipynb": (answered("b = 2"), seconds)}
    found = handed_in(tmp_path, files)
    assert counts in found.data.decode()
    assert any("2 notebooks" in flag.text and "(older)" in flag.text for flag in found.flags)


def test_a_file_of_an_absurd_time_is_read(tmp_path):
    files = {WANTED: (DONE, 2**55), "draft.ipynb": RELEASED}
    try:
        found = handed_in(tmp_path, files)
    except (OSError, OverflowError):
        pytest.skip("this file system knows no such time")
    assert is_done(found)


def test_one_notebook_at_a_time_is_in_memory(tmp_path):
    big = json.loads(DONE)
    big["cells"][1]["outputs"] = [{"output_type": "stream", "text": "x, " * 5_000_000}]
    files = {f"v{n}.ipynb": json.dumps(big).encode() for n in range(9)}
    for name, data in files.items():
        path = tmp_path / "ada" / SLUG / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert grown(tmp_path) < 40_000  # two of 15 MB, of 135 in all


# --- where notebooks lie -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({f"work/{WANTED}": DONE}, "the notebook lay in work"),
        ({f"{SLUG}/{WANTED}": DONE}, "the notebook lay in 01_speedup"),
        ({"work.zip": archive({WANTED: DONE})}, "the notebook lay in work.zip"),
        ({"work.zip": archive({"in.zip": archive({WANTED: DONE})})},
         "the notebook lay in work.zip/in.zip"),
    ],
)  # fmt: skip
def test_a_notebook_in_a_folder_or_a_zip_of_the_student_is_read_and_flagged(tmp_path, files, says):
    found = handed_in(tmp_path / "folder", files)
    assert is_done(found)
    assert [*map(str, found.flags)] == [says]
    place = "Ada_7_assignsubmission_file_/"
    found = downloaded(tmp_path, {place + name: data for name, data in files.items()})["Ada"]
    assert is_done(found)
    assert [*map(str, found.flags)] == [says]


def test_zips_of_a_student_are_bounded(tmp_path):
    nested = archive({WANTED: DONE})
    for _ in range(3):
        nested = archive({"in.zip": nested})
    many = archive({f"{n}.txt": b"" for n in range(70_000)})
    for name, data in {
        "nested.zip": nested,
        "many.zip": many,
        "bomb.zip": archive({WANTED: b" " * 30_000_000}),
        "torn.zip": archive({WANTED: DONE})[:-30],
        "cyclic.zip": b"PK\5\6" + b"\0" * 18,
    }.items():
        begin = time.process_time()
        found = handed_in(tmp_path, {name: data}, student=name)
        assert found.data is None, name
        assert re.search("no notebook|it is larger", found.reason), name
        assert time.process_time() - begin < 2.0, name


def test_files_beside_the_notebook_are_flagged_for_they_are_not_there_when_it_is_graded(tmp_path):
    found = handed_in(tmp_path, {WANTED: DONE, "mycode.py": b"x", "timestamp.txt": b"2027-01-01"})
    says = "mycode.py was handed in beside the notebook and is not there when it is graded"
    assert [*map(str, found.flags)] == [says]
    more = {f"data{n}.csv": b"1" for n in range(9)}
    found = handed_in(tmp_path, {WANTED: DONE, **more}, student="ben")
    assert [*map(str, found.flags)] == [
        "data0.csv, data1.csv, data2.csv, data3.csv, data4.csv and 4 more were handed in beside the "
        "notebook and are not there when it is graded"
    ]


# --- size ----------------------------------------------------------------------------------------


def large(megabytes, value):
    """Return the solution with outputs of so many megabytes."""
    notebook = json.loads(DONE)
    notebook["cells"][1]["outputs"] = ["HERE"]
    head, _, tail = json.dumps(notebook).encode().partition(b'"HERE"')
    return b"".join([head, *[value] * (megabytes * 1_000_000 // len(value)), b"0", tail])


@pytest.mark.parametrize("value", [b"[],", b'"text, and [more] \\n", ', b"0.123456789, "])
def test_sixty_five_megabytes_of_outputs_are_dropped_before_anything_is_made_of_them(value):
    data = large(7 if value == b"[]," else 65, value)
    assert LOOK(data)
    assert json.loads(without_outputs(data))["cells"][1]["outputs"] == []


def test_who_hands_in_more_than_is_read_is_told_so_and_by_which_option_it_is_read(tmp_path):
    found = handed_in(tmp_path, {WANTED: DONE + b" " * 1_000_000}, most_bytes=1_000_000)
    assert found.data is None
    assert found.reason == (
        "it is larger than 1 MB: have it handed in without its outputs, or grade with more "
        "--most-bytes"
    )
    assert is_done(handed_in(tmp_path, {WANTED: DONE}, student="ben", most_bytes=1_000_000))


@pytest.mark.parametrize("megabytes", [20, pytest.param(60, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("value", sampled([b"[],", b'"ab",'], 1))
def test_the_memory_that_a_large_notebook_takes_is_its_own_size(tmp_path, megabytes, value):
    path = tmp_path / "ada" / SLUG / WANTED
    path.parent.mkdir(parents=True)
    path.write_bytes(large(megabytes, value))
    assert grown(tmp_path) < 1_000 * megabytes + 10_000  # kB


def grown(place):
    """Return by how many kB a process of its own grows that loads the submission in a folder."""
    line = f"""
import re
from tests.grading.inputs.test_collect import LOOK, SLUG, collect

def most():
    return int(re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

(one,) = collect.collect({str(place)!r}, SLUG, look=LOOK)
before = most()
one.loaded()
print(most() - before)"""
    told = subprocess.run(
        [sys.executable, "-c", line], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return int(told.stdout)
