"""Who wrote the same: real answers of an assignment and their copies, and classes made by chance."""

import csv
import io
import itertools
import json
import random
import re
import time

import pytest

from scalelab.cli import grade as command
from scalelab.grading.box import bubblewrap
from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.source import Cell, Source, load
from scalelab.grading.judging import grade_one
from scalelab.grading.out import side_by_side, similar
from tests.grading.out.styles import COPIES, CROSSING, REPAIRED
from tests.notebooks import ROOT
from tests.submissions import classes, stage as stages

pytestmark = pytest.mark.turns(3)

SLUG = "01_speedup"
SPEEDUP = load(ROOT, SLUG)
STYLES = {"answer-1-1": CROSSING, "answer-3-4": REPAIRED}
COPIED = {"answer-1-1": 0, "answer-3-4": 4}  # which style
WALLS = pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)


def wrote(student, answers, **more):
    """Return a result as far as likeness looks at it."""
    return {
        "student": student,
        "answers": [{"id": n, "text": t} for n, t in answers.items()],
    } | more


def honest():
    """Return a class of six who wrote two answers each, in styles of their own."""
    turned = [*REPAIRED[2:], *REPAIRED[:2]]  # nobody has one student's two answers
    return [wrote(f"s{n}", {"answer-1-1": CROSSING[n], "answer-3-4": turned[n]}) for n in range(6)]


# --- real answers --------------------------------------------------------------------------------


@WALLS
def test_the_six_styles_and_the_copies_are_right_answers(tmp_path):
    stage = stages.of(stages.course(tmp_path, SLUG))
    some = [dict(zip(STYLES, both, strict=True)) for both in zip(*STYLES.values(), strict=True)]
    for answers in [*some, COPIES]:
        data = json.dumps(stage.handed_in(answers)).encode()
        found = grade_one.grade(grade_one.Unit(SPEEDUP, Submission("ada", data)))
        assert [t["id"] for t in found["tests"] if t["score"] < t["max_score"]] == []
    grade_one.close()


def test_honest_answers_in_six_styles_are_not_listed():
    assert similar.pairs(SPEEDUP, honest()) == []


@pytest.mark.parametrize("answer", STYLES)
def test_a_copy_with_other_names_comments_layout_and_order_is_found(answer):
    text = STYLES[answer][COPIED[answer]]
    (owner,) = (one["student"] for one in honest() if text in (a["text"] for a in one["answers"]))
    (pair,) = similar.pairs(SPEEDUP, [*honest(), wrote("zoe", {answer: COPIES[answer]})])
    assert pair.students == (owner, "zoe")
    assert [one.answer for one in pair.shared] == [answer]


def test_a_word_for_word_copy_is_above_a_changed_one_and_wholly_like():
    same = {name: STYLES[name][COPIED[name]] for name in STYLES}
    found = similar.pairs(
        SPEEDUP, [*honest()[3:], wrote("a", same), wrote("b", same), wrote("c", COPIES)]
    )
    assert [pair.students for pair in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [one.likeness for one in found[0].shared] == [1.0, 1.0]
    plain = json.loads(json.dumps(found[0].plain()))
    assert [one["answer"] for one in plain["shared"]] == ["answer-3-4", "answer-1-1"]


def test_what_was_released_and_the_solution_are_nobodys_copy():
    released = {c.id: c.stub for c in SPEEDUP.cells if c.answer}
    solved = {c.id: re.sub("### .*", "", c.text) for c in SPEEDUP.cells if c.answer}
    for answers in (released, solved):
        assert similar.pairs(SPEEDUP, [wrote(student, answers) for student in ("a", "b")]) == []


def test_what_more_than_a_third_of_the_class_shares_is_no_likeness():
    text = REPAIRED[0]

    def pairs(sharing, others):
        same = [wrote(f"a{n}", {"answer-3-4": text}) for n in range(sharing)]
        rest = [wrote(f"b{n}", {"answer-3-4": REPAIRED[1]}) for n in range(others)]
        return {p.students for p in similar.pairs(SPEEDUP, [*same, *rest]) if "a0" in p.students}

    assert pairs(6, 12) == {("a0", f"a{n}") for n in range(1, 6)}
    assert pairs(7, 12) == set()
    assert pairs(5, 1) == {("a0", f"a{n}") for n in range(1, 5)}  # a small class
    assert pairs(2, 0) == {("a0", "a1")}


def test_explanations_are_compared_by_their_words():
    text = next(c.id for c in SPEEDUP.cells if c.answer and c.kind == "markdown")
    said = "Beyond the ninth worker each doubling costs more seconds than it saves, because of {}"
    mine = said.format("the serial part."), said.upper().format("*something* else!")
    (pair,) = similar.pairs(SPEEDUP, [wrote("a", {text: mine[0]}), wrote("b", {text: mine[1]})])
    assert pair.shared[0].task == SPEEDUP.titles[text]


def test_a_group_is_not_listed_as_its_own_copy():
    same = {"answer-3-4": REPAIRED[0]}
    group = [wrote("a", same), wrote("b", same, by="a")]
    assert similar.pairs(SPEEDUP, group) == []
    (pair,) = similar.pairs(SPEEDUP, [*group, wrote("c", same)])
    assert pair.students == ("a", "c")


# --- classes made by chance ----------------------------------------------------------------------

WORDS = ["if", "else", "for", "in", "and", "or", "not", "+", "*", "/", "<", "[", "]", "len", "max"]
GIVEN = "if len in max for else and + * not or ["
CHANCE = Source("x", (Cell("answer", "code", GIVEN, GIVEN, answer=True),))


def brute_force(texts):
    """Return {(one, other): (shared, likeness)} by the definition, in the plainest way."""
    sets = {}
    for student, text in texts.items():
        words, given = text.split(), GIVEN.split()
        mine = set()
        for n in range(len(words) - 4):
            run = words[n : n + 5]
            if not any(given[at : at + 5] == run for at in range(len(given))):
                mine.add(" ".join(run))
        sets[student] = mine
    wrote_any = len([1 for mine in sets.values() if mine])
    for run in set().union(*sets.values()):
        having = [student for student in sets if run in sets[student]]
        if len(having) > 5 and 3 * len(having) > wrote_any:
            for student in having:
                sets[student] = sets[student] - {run}
    found = {}
    for one, other in itertools.combinations(sorted(sets), 2):
        both = [run for run in sets[one] if run in sets[other]]
        any_of = sets[one] | sets[other]
        if len(both) >= 8 and len(both) / len(any_of) >= 0.3:
            found[one, other] = len(both), round(len(both) / len(any_of), 6)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_pairs_of_a_small_class_are_those_of_brute_force(seed):
    luck = random.Random(seed)
    passages = [" ".join(luck.choices(WORDS, k=luck.randint(4, 20))) for _ in range(12)]
    texts = {
        f"s{n}": " ".join([GIVEN * luck.randint(0, 1), *luck.sample(passages, luck.randint(1, 5))])
        for n in range(luck.randint(2, 20))
    }
    found = similar.pairs(CHANCE, [wrote(s, {"answer": text}) for s, text in texts.items()])
    told = {pair.students: pair.shared[0][2:] for pair in found}
    assert told == brute_force(texts)
    ranks = [pair.rank for pair in found]
    assert ranks == sorted(ranks, reverse=True)


def test_the_classes_of_chance_have_pairs_and_strangers():
    assert brute_force({"a": " ".join(WORDS), "b": " ".join(WORDS), "c": "if else"}) != {}


def test_three_hundred_students_are_compared_in_seconds_and_all_copies_are_found():
    luck = random.Random(1)
    names = [cell.id for cell in SPEEDUP.cells if cell.answer and cell.kind == "code"][:6]
    lines = {
        name: ["    " + " ".join(luck.choices([*WORDS, "x", "y", "2"], k=12)) for _ in range(60)]
        for name in names
    }
    results = [
        wrote(f"s{n:03}", {name: "\n".join(luck.sample(lines[name], 18)) for name in names})
        for n in range(300)
    ]
    results[7]["answers"][3] = results[55]["answers"][3]
    for one in results[60:90]:  # more than are compared with each other
        one["answers"][5] = results[60]["answers"][5]
    begin = time.process_time()
    found = similar.pairs(SPEEDUP, results)
    page = side_by_side.html(SPEEDUP, results, found, "feedback")
    assert time.process_time() - begin < 30.0  # a tenth of it where nobody else is at work
    assert found[0].students == ("s007", "s055")
    assert {f"s{n:03}" for n in range(60, 90)} <= {s for pair in found for s in pair.students}
    assert len(page) < 1_000_000


@pytest.mark.parametrize(
    "text",
    ["'" * 50_000, '"""' * 15_000, "\\" * 50_000, "((" * 25_000, "a." * 25_000, "é\u2028" * 9],
)
def test_an_absurd_answer_takes_no_time(text):
    begin = time.process_time()
    similar.pairs(SPEEDUP, [wrote(student, {"answer-3-4": text}) for student in "abc"])
    assert time.process_time() - begin < 5.0


# --- what is shown -------------------------------------------------------------------------------

EVIL = "<script>alert(1)</script>"


def test_nothing_of_a_student_runs_in_the_page_or_the_table():
    text = REPAIRED[0] + f"\n# {EVIL}\nx = '{EVIL}'"
    results = [wrote(student, {"answer-3-4": text}) for student in (f"={EVIL}", f'"{EVIL}')]
    found = similar.pairs(SPEEDUP, results)
    page = side_by_side.html(SPEEDUP, results, found, "feedback")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    (row,) = csv.DictReader(io.StringIO(side_by_side.csv(found)))
    assert row["other"].startswith("'=")


def test_the_page_shows_both_answers_and_marks_what_they_share():
    extra = "def unshared(a):\n    return None\n"
    results = [
        wrote("ada", {"answer-3-4": extra + REPAIRED[0]}),
        wrote("ben", {"answer-3-4": REPAIRED[0]}),
    ]
    page = side_by_side.html(SPEEDUP, results, similar.pairs(SPEEDUP, results), "../../feedback")
    assert page.count("<mark>        times[k].append(t)</mark>") == 2
    assert "<mark>def unshared" not in page
    assert page.count("\n\n<mark>def repaired(rows):</mark>") == 2  # layout and all
    assert "no proof" in page
    assert 'href="../../feedback/ada/01_speedup/01_speedup.html"' in page
    assert "No two students" in side_by_side.html(SPEEDUP, results[:1], [], "f")


def test_a_long_answer_is_shown_where_it_is_alike():
    long = "\n".join(f"{word} = 1" for word in "abc" * 50) + REPAIRED[0]
    results = [
        wrote("ada", {"answer-3-4": long}),
        wrote("ben", {"answer-3-4": REPAIRED[0]}),
        wrote("cleo", {"answer-3-4": REPAIRED[1]}),
    ]
    page = side_by_side.html(SPEEDUP, results, similar.pairs(SPEEDUP, results), "f")
    assert "more lines" in page
    assert page.count("<mark>        times[k].append(t)</mark>") == 2


@WALLS
def test_a_class_is_graded_and_compared_in_one_run(tmp_path):
    root = stages.course(tmp_path, SLUG)
    stage = stages.of(root)
    handed = {
        "ada": {"answer-3-4": REPAIRED[4]},
        "ben": {"answer-3-4": REPAIRED[1]},
        "cleo": {"answer-3-4": COPIES["answer-3-4"]},
        "dan": {"answer-3-4": REPAIRED[2]},
    }
    for student, answers in handed.items():
        place = root / "course" / "submitted" / student / SLUG
        place.mkdir(parents=True)
        (place / f"{SLUG}.ipynb").write_text(json.dumps(stage.handed_in(answers)))
    place = root / "course" / "graded" / SLUG
    classes.grade(root, executor=classes.here)
    assert not (place / "similar.csv").exists()
    classes.grade(root, executor=classes.here, resume=True, similar=True)
    classes.close()
    with (place / "similar.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["student"], row["other"], row["task"][:3]) == ("ada", "cleo", "3.4")
    assert "ada</a> and <a" in (place / "similar.html").read_text()
    told = json.loads((place / "report.json").read_text())
    said = "1 pair of students wrote much the same"
    assert said in command._table(told | {"similar": [row]}, place)
    assert said not in command._table(told, place)
