"""What the messages of a check are meant for: no right answer, and no two of them the same answer.

python -m tests.assignments.messages 01_speedup     # every coincidence, with its variants
"""

import sys
from collections import defaultdict
from unittest import mock

from scalelab.checks.plain import plain
from scalelab.checks.words import difference
from tests.assignments.runner import VARIANTS, Assignment, in_course

STALE = "right for the public numbers"  # how the message of `Numbers.stale` begins


def coincidences(slug, task, number, source=None):
    """Return [(what is judged, message)] of those that another answer would get, too.

    The message is that of the right answer's double, or the later of two for one wrong answer.
    What the public numbers give may be listed last: then a slip that leads there is told first.
    """
    with in_course(number=number):
        judged = _judged(source or Assignment(slug).cells[f"check-{task}"].source)
    for what, (right, known) in judged.items():
        for n, (wrong, message) in enumerate(known):
            stale = message.startswith(STALE)
            earlier = [w for w, other in known[:n] if other != message]
            if not stale and any(_same(wrong, other) for other in [*right, *earlier]):
                yield what, message


def every(slug, numbers=VARIANTS):
    """Return {(task and what is judged, message): [variants]} of an assignment."""
    found = defaultdict(list)
    for task in Assignment(slug).tasks:
        for number in numbers:
            for what, message in coincidences(slug, task, number):
                found[f"{task} {what}", message].append(number)
    return dict(found)


def _judged(source):
    """Run a check and return {what it judges: ([right answers], [(wrong answer, message)])}."""
    judged = defaultdict(lambda: ([], []))

    class Listener:
        def __init__(self, *_, **__):
            pass

        def number(self, name, *, expect=None, follows=(), own=(), part="", what="", **how):
            if own:  # what is right depends on the student's own data
                return
            right, known = judged[f"{name} {part or what}".strip()]
            given = dict(follows).values()
            right += [_value(expect, given)] if expect is not None else []
            known += [(_value(wrong, given), message) for wrong, message in how.get("known", ())]

        text = sequence = number

        def choice(self, *_, **__):  # its options are few, and the right one's message never shows
            pass

        def function(self, name, *, cases, expect, what="", known=(), hidden=False, **_):
            # Seen and hidden cases are not the same, so they are not compared with each other.
            right, wrongs = judged[f"{name} {what} {'hidden' * hidden}".strip()]
            right += [_row(expect, cases)]
            wrongs += [(_row(wrong, cases), message) for wrong, message in known]

        def measured(self, *_, **__):
            pass

        def score(self):
            pass

    with mock.patch("scalelab.checks.Task", Listener):
        exec(source, {})
    return judged


def _value(given, arguments):
    try:
        return plain(given(*arguments) if callable(given) else given)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None  # a slip that has no value with these numbers


def _row(given, cases):
    return [_value(given, case) for case in cases] if callable(given) else plain(list(given))


def _same(one, other):
    try:
        return None not in (one, other) and difference(one, other) is None
    except TypeError:
        return False


if __name__ == "__main__":
    for (what, message), variants in every(sys.argv[1]).items():
        print(f"{what}: {message!r} in {variants}")
