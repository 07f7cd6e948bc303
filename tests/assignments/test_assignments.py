"""Every assignment grades fairly: right answers earn all, wrong ones are told what is wrong.

An assignment is found by its folder in solutions/; its alternative and wrong answers are in
tests/assignments/answers/SLUG.py. The cells run in this process, see tests/assignments/runner.py.
"""

import ast
import functools
import re
from unittest import mock

import pytest

from scalelab.grading.release import release
from tests.assignments.runner import ROOT, SLUGS, SOURCES, VARIANTS, Assignment, in_course, table
from tests.sampling import sampled

ONE_PER_SLUG = pytest.mark.parametrize("slug", sampled(SLUGS, 2))


def with_variants(numbers, today, always=()):
    """Try each assignment with some of the variants today, and with all by `--all`."""
    return pytest.mark.parametrize(
        ("slug", "number"),
        [
            param
            for slug in SLUGS
            for param in sampled(
                [pytest.param(slug, number, id=f"{slug}-{number}") for number in numbers],
                today,
                always=always,
            )
        ],
    )


def wrong_answers(number):
    return [
        pytest.param(slug, task, number, points, says, code, id=f"{slug}-{task}-{n}-{number}")
        for slug in SLUGS
        for task, answers in table(slug).WRONG.items()
        for n, (points, says, code) in enumerate(answers, 1)
    ]


def test_of_every_assignment_right_and_wrong_answers_are_known():
    assert "01_speedup" in SLUGS
    assert SLUGS == SOURCES, (
        "tests/assignments/answers/SLUG.py must hold them: copy another and change it"
    )


@pytest.mark.parametrize("slug", SLUGS)
def test_the_committed_release_is_what_the_source_builds(slug):
    committed = (ROOT / "exercises" / slug / f"{slug}.ipynb").read_text()
    built = release.build(ROOT, slug)
    assert release.differences(committed, built) == []
    assert built == committed, "and every time to the letter"


@with_variants(VARIANTS, 1, always=(0,))
def test_the_reference_earns_full_marks_whatever_the_secret_and_the_variant(slug, number):
    assert lost(slug, None, f"course {number}", number) == {}


@with_variants(VARIANTS[::5], 1)
def test_another_style_earns_full_marks_too(slug, number):
    answers = table(slug).ALTERNATIVE
    assert set(answers) == set(Assignment(slug).answers)
    assert lost(slug, answers, f"class {number}", number) == {}


@ONE_PER_SLUG
@pytest.mark.parametrize("folder", ["solutions", "exercises"])
def test_the_stub_earns_nothing_and_is_called_not_attempted(slug, folder):
    stub = Assignment(slug, "exercises")
    with in_course(number=3):
        graded = Assignment(slug, folder).grade({k: stub.cells[k].source for k in stub.answers})
    for key, result in graded.items():
        task = key.removeprefix("check-").replace("-", ".")
        assert result.points == 0
        assert result.text == f"Task {task}: not attempted, 0 of {result.most:g} points\n"


@pytest.mark.parametrize("slug", SLUGS)
def test_a_blank_answer_shows_nothing_when_it_is_run(slug):
    stub = Assignment(slug, "exercises")
    for key in stub.answers:
        *_, last = ast.parse(stub.cells[key].source).body
        assert not isinstance(last, ast.Expr), f"{key} shows the value of its last line"


@with_variants(VARIANTS[::5], 1)
def test_the_release_pays_or_leaves_open_full_marks_for_the_reference(slug, number):
    reference = Assignment(slug)
    answers = {key: reference.cells[key].source for key in reference.answers}
    with in_course(number=number):
        graded = Assignment(slug, "exercises").grade(answers)
    for result in graded.values():
        later = re.search(r"; ([\d.]+) more (?:is|are) judged when it is graded", result.text)
        assert result.points + float(later[1] if later else 0) == pytest.approx(
            result.most, abs=0.01
        )
        assert later or "When this is graded, " in result.text


@pytest.mark.parametrize(
    ("slug", "task", "number", "points", "says", "code"),
    [*sampled(wrong_answers(0), 60), *sampled(wrong_answers(7), 20)],
)
def test_a_wrong_answer_gets_its_message_and_its_points(slug, task, number, points, says, code):
    result = _graded(slug, task, code, number)
    assert says in " ".join(result.text.split())
    assert result.points == pytest.approx(points, abs=0.005)


@ONE_PER_SLUG
def test_every_task_has_three_wrong_answers_and_every_message_its_own(slug):
    wrong = table(slug).WRONG
    assert set(wrong) == set(Assignment(slug).tasks)
    assert {task for task, answers in wrong.items() if len(answers) < 3} == set()
    for task in wrong:
        said = "".join(_said(slug, task, code) for _, _, code in wrong[task])
        for message in _known_messages(Assignment(slug).cells[f"check-{task}"].source):
            assert message in said, f"task {task}: no wrong answer is told {message!r}"


@ONE_PER_SLUG
def test_every_task_asks_more_when_it_is_graded_than_its_release_shows(slug):
    for task in Assignment(slug).tasks:
        check = Assignment(slug).cells[f"check-{task}"].source
        assert "hidden=True" in check or "own=" in check, task


@ONE_PER_SLUG
def test_functions_made_of_the_visible_values_earn_nothing(slug):
    assignment, released = Assignment(slug), Assignment(slug, "exercises")
    for task in assignment.tasks:
        parrot = _parrot(assignment, released, task)
        if not parrot:
            continue
        with in_course():
            practice = released.grade({f"answer-{task}": parrot}, only=task)[f"check-{task}"]
            graded = assignment.grade({f"answer-{task}": parrot}, only=task)[f"check-{task}"]
        assert "  wrong " not in practice.text
        assert graded.points == 0, graded.text


@ONE_PER_SLUG
def test_hidden_checks_tell_nothing_of_their_inputs(slug):
    """An answer that throws its inputs back at the reader still gets no number out."""
    telltale = "def {name}(*given):\n    raise type(f'Seen {{given}}', (Exception,), {{}})(given)\n"
    for task in Assignment(slug).tasks:
        check = Assignment(slug).cells[f"check-{task}"].source
        names = set(re.findall(r'task\.function\(\s*"(\w+)"', check))
        text = " ".join(
            _said(slug, task, "\n".join(telltale.format(name=n) for n in names)).split()
        )
        hidden = text.split("on fresh inputs: ")[1:]
        assert bool(hidden) == bool(names)
        assert all(said.startswith("raised an exception") for said in hidden)


@ONE_PER_SLUG
def test_hidden_checks_tell_nothing_of_the_right_value(slug):
    for task in Assignment(slug).tasks:
        check = Assignment(slug).cells[f"check-{task}"].source
        names = set(re.findall(r'task\.(?!function|measured)\w+\(\s*"(\w+)"', check))
        for wrong in (987654.321, "nonsense", [987654.321] * 2, {}):
            text = " ".join(_said(slug, task, "\n".join(f"{n} = {wrong!r}" for n in names)).split())
            text = re.sub("a list of [02] items", "", text)  # how long the answer itself is
            for said in re.findall(r", as graded: (.*?)(?:  |$|; )", text):
                assert not re.search(r"\d", re.sub(r"part \S+|'.*?'", "", said)), said


def lost(slug, answers, word, number):
    """Return what was said of every task that did not earn all its points."""
    with in_course(word, number):
        graded = Assignment(slug).grade(answers)
    return {key: g.text for key, g in graded.items() if g.points != g.most}


def _said(slug, task, code):
    """Return the report on an answer, as written by the checks."""
    return _graded(slug, task, code, 0).text


@functools.cache
def _graded(slug, task, code, number):
    """Return what one answer comes to, and the report on it as written by the checks: not wrapped."""
    with in_course(number=number), mock.patch("scalelab.checks.report.WIDTH", 10_000):
        return Assignment(slug).grade({f"answer-{task}": code}, only=task)[f"check-{task}"]


def _known_messages(source):
    """Read the messages of all `known=` lists of a check cell."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "known":
            for pair in node.value.elts:
                if isinstance(pair, ast.Tuple):  # else the one about the public numbers
                    yield ast.literal_eval(pair.elts[1])


def _parrot(assignment, released, task):
    """Write functions that know the reference's result for every visible case by heart."""
    shown = []

    class Listener:
        def __init__(self, *_, **__):
            pass

        def function(self, name, *, cases, **_):
            shown.extend((name, case) for case in cases)

        number = choice = text = sequence = measured = lambda *_, **__: None

        def score(self):
            return 0.0

    with in_course():
        with mock.patch("scalelab.checks.Task", Listener):
            released.grade(only=task)
        names = assignment.run(only=task)
    known = {name: {} for name, _ in shown}
    for name, case in shown:
        known[name][repr(tuple(case))] = names[name](*case)
    return "".join(
        f"from numpy import inf\n"
        f"def {name}(*given, known={values}):\n"
        "    return known.get(repr(given), next(iter(known.values())))\n"
        for name, values in known.items()
    )
