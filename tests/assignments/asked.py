"""What the check of a task asks for: its right values, and the inputs of its functions."""

import functools
from collections import Counter
from unittest import mock

from scalelab import checks
from scalelab.checks.plain import plain
from tests.assignments.runner import VARIANTS, Assignment, in_course


def asked(slug, task, number, word="course 0", seed=None):
    """Return what a check expects of each value, and on what it calls each function, as text.

    What is judged by the student's own data has no value to expect. The numbers are drawn with
    another seed where one is given.
    """
    values, inputs = {}, {}

    class Listener:
        def __init__(self, *_, **__):
            pass

        def number(self, name, *, expect=None, part="", what="", follows=(), hidden=False, **how):
            if hidden:
                right = expect(*dict(follows).values()) if callable(expect) else expect
                values[f"{name} {part or what}".strip()] = repr(plain(right))

        choice = text = sequence = number

        def function(self, name, *, cases, hidden=False, **_):
            if hidden:
                inputs[name] = inputs.get(name, "") + repr(cases)

        def measured(self, *_, **__):
            pass

        def score(self):
            pass

    def drawn(name, variant=checks.variant, **how):
        return variant(name, **how if seed is None else {**how, "seed": seed})

    with (
        in_course(word, number),
        mock.patch("scalelab.checks.Task", Listener),
        mock.patch("scalelab.checks.variant", drawn),
    ):
        exec(Assignment(slug).cells[f"check-{task}"].source, {})
    return values, inputs


@functools.cache
def commonest(slug, task, seed=None):
    """Return {value: (how many values it has, how many variants share the commonest)}."""
    seen = {}
    for number in VARIANTS:
        for name, value in asked(slug, task, number, seed=seed)[0].items():
            seen.setdefault(name, Counter())[value] += 1
    return {name: (len(values), max(values.values())) for name, values in seen.items()}
