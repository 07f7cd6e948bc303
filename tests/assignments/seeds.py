"""The numbers of an assignment's variants, and a seed with which all keep their bounds.

python -m tests.assignments.seeds 01_speedup     # the least seed for each call of variant()
"""

import ast
import sys

from tests.assignments.asked import commonest
from tests.assignments.runner import VARIANTS, Assignment, in_course, table

MOST_ALIKE = 0.62  # of the variants, 13 of 21: guessing the commonest answer does not pay


def calls(source):
    """Return every call of variant() in a cell, by its syntax and not by its layout."""
    nodes = ast.walk(ast.parse(source))
    return [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "variant"]


def drawn(slug):
    """Return {task: (its call, the names it is evaluated with)} of the cells that students see."""
    found = {}
    with in_course():
        names = Assignment(slug).run(only="none")
    for key, cell in Assignment(slug).cells.items():
        if cell.cell_type == "code" and not key.startswith("check-"):
            for call in calls(cell.source):
                given, task = ast.literal_eval(call.args[0]).split("/")
                assert given == slug, f"{key}: a variant is named after its task, as {slug}/1.2"
                found[task.replace(".", "-")] = call, names
    return found


def numbers(call, names, seed=None):
    """Evaluate a call for all variants, with another seed where one is given."""
    keep = [k for k in call.keywords if seed is None or k.arg != "seed"]
    added = [] if seed is None else [ast.keyword("seed", ast.Constant(seed))]
    changed = ast.Call(call.func, call.args, keep + added)
    code = compile(ast.fix_missing_locations(ast.Expression(changed)), "<variant>", "eval")
    for number in VARIANTS:
        with in_course(number=number):
            yield eval(code, names)


def outside(bounds, variants):
    """Return {what: {variant: measure}} for those that are easier or harder than the rest."""
    variants = list(variants)
    return {
        what: bad
        for what, (measure, low, high) in bounds.items()
        if (bad := {n.variant: measure(n) for n in variants if not low <= measure(n) <= high})
    }


def least_seed(slug, task, most=20_000):
    """Return the least seed whose variants keep their bounds and their answers apart, or None."""
    (call, names), bounds = drawn(slug)[task], table(slug).BOUNDS[task]
    for seed in range(most):
        # One after another, because most seeds fail at one of the first.
        if all(not outside(bounds, [one]) for one in numbers(call, names, seed)):
            shares = commonest(slug, task, seed).values()
            if all(kinds == 1 or most <= MOST_ALIKE * len(VARIANTS) for kinds, most in shares):
                return seed
    return None


if __name__ == "__main__":
    for task in drawn(sys.argv[1]):
        print(f"{task}: seed={least_seed(sys.argv[1], task)}")
