"""What is wrong stays wrong: with the secret of another course, and with another student's numbers.

Hidden inputs are drawn anew for every course, so a slip that earns all by luck does so in some.
"""

import random

import pytest

from tests.assignments.runner import SLUGS, VARIANTS, Assignment, in_course, table
from tests.sampling import sampled, seed


def answers(slug):
    """Return [(task, place in the list, code)] of all that is known to be wrong."""
    listed = table(slug).WRONG.items()
    return [(task, n, code) for task, known in listed for n, (_, _, code) in enumerate(known, 1)]


def paid(slug, task, code, courses):
    """Return the courses and variants in which an answer to one task earns all its points."""
    found = []
    for word, number in courses:
        with in_course(word, number):
            graded = Assignment(slug).grade({f"answer-{task}": code}, only=task)[f"check-{task}"]
        found += [(word, number)] if graded.points == graded.most else []
    return found


@pytest.mark.parametrize(
    ("slug", "task", "n", "code"),
    sampled(
        [
            pytest.param(slug, *one, id=f"{slug}-{one[0]}-{one[1]}")
            for slug in SLUGS
            for one in answers(slug)
        ],
        60,
    ),
)
def test_a_wrong_answer_never_earns_all_whatever_the_secret_and_the_variant(slug, task, n, code):
    draw = random.Random(f"{seed()} {slug} {task} {n}")
    courses = [(f"course {draw.random()}", draw.choice(VARIANTS)) for _ in range(4)]
    assert paid(slug, task, code, courses) == []
