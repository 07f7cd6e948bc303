"""Small slips in a reference solution, one at a time: a flipped operator, a dropped term, off by one.

If a check still pays full marks for one of them, it does not look where it should.

    python -m tests.assignments.mutants 01_speedup     # which mutants survive
"""

import ast
import copy
import functools
import sys

from scalelab.checks.call import call
from tests.assignments.runner import Assignment, in_course, table

_FLIPPED = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult},
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And},
}
_TURNED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_SWAPPED = {
    **{"min": "max", "max": "min", "ceil": "floor", "floor": "ceil", "any": "all", "all": "any"},
    **{"minimum": "maximum", "maximum": "minimum", "argmin": "argmax", "argmax": "argmin"},
    **{"mean": "median", "median": "mean"},
}


def mutants(source):
    r"""Return {"old → new": source} for every small slip in the code between the solution marks.

    >>> list(mutants("### BEGIN SOLUTION\ny = 2 * x\n### END SOLUTION"))
    ['2 * x → 2 / x', '2 * x → 2', '2 * x → x', '2 → 3']
    """
    return {key: make() for key, make in _made(source).items()}


def _made(source):
    """Return {"old → new": a function that writes the source with this slip}."""
    tree = ast.parse(source)
    made = {}
    for node in _inside(tree, source):
        for changed in _slips(node):
            key = f"{_written(node)} → {_written(changed)}"
            while key in made:  # the same slip at another place
                key += " (again)"
            made[key] = functools.partial(_replaced, tree, node, changed)
    return made


@functools.cache
def slips(slug):
    """Return {"task: old → new": a function that writes the answer with this slip}."""
    assignment = Assignment(slug)
    return {
        f"{task}: {slip}": make
        for task in assignment.tasks
        for slip, make in _made(assignment.cells[f"answer-{task}"].source).items()
    }


def outcomes(slug, chosen=None):
    """Return {"task: old → new": whether it lost points} for some mutants of an assignment, or all."""
    assignment = Assignment(slug)
    # Without a limit of time, which would break off an import and with it all that follow.
    assert all(graded.points == graded.most for graded in assignment.grade().values())
    return {slip: _loses(assignment, slip, slips(slug)[slip]()) for slip in chosen or slips(slug)}


def _loses(assignment, slip, source):
    """Grade within a limit of time: the answer cell itself may be what never ends."""
    task = slip.partition(":")[0]
    # A mutant that never ends loses points after the time limit: a short one will do for those
    # that are not known to survive, and so to end.
    survives = slip in getattr(table(assignment.slug), "SURVIVORS", {})
    each, whole = (60.0, 600.0) if survives else (0.3, 3.0)

    def full():
        graded = assignment.grade({f"answer-{task}": source}, only=task)[f"check-{task}"]
        return graded.points == graded.most

    # With some numbers a slip makes no difference: whoever draws those has made none.
    for number in (0, 7, 13):
        with in_course(number=number, seconds=each):
            if call(full, seconds=whole).value is not True:
                return True
    return False


def _inside(tree, source):
    """Return the expressions that stand between BEGIN and END SOLUTION, in order."""
    inside, lines = False, set()
    for number, line in enumerate(source.splitlines(), 1):
        inside = "BEGIN SOLUTION" in line or (inside and "END SOLUTION" not in line)
        lines |= {number} if inside else set()
    texts = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    # Whether zip() insists on equal lengths is no slip in the answer.
    texts |= {
        id(n.value) for n in ast.walk(tree) if isinstance(n, ast.keyword) and n.arg == "strict"
    }
    return [n for n in ast.walk(tree) if getattr(n, "lineno", 0) in lines and id(n) not in texts]


def _slips(node):
    match node:
        case ast.BinOp():
            if type(node.op) in _FLIPPED:
                yield _with(node, op=_FLIPPED[type(node.op)]())
            yield node.left
            if isinstance(node.op, (ast.Add, ast.Mult)):
                yield node.right
        case ast.AugAssign():
            if type(node.op) in _FLIPPED:
                yield _with(node, op=_FLIPPED[type(node.op)]())
        case ast.Compare(ops=[op]):
            yield _with(node, ops=[_FLIPPED[type(op)]()])
            if type(op) in _TURNED:
                yield _with(node, ops=[_TURNED[type(op)]()])
        case ast.BoolOp():
            yield _with(node, op=_FLIPPED[type(node.op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            # One more of a thousand would be within what checks forgive as rounding.
            yield ast.Constant(node.value + (1 if abs(node.value) < 500 else node.value // 8))
        case ast.IfExp():
            yield _with(node, body=node.orelse, orelse=node.body)
        case ast.Call(func=ast.Name(id=name)) if name in _SWAPPED:
            yield _with(node, func=ast.Name(_SWAPPED[name], ast.Load()))
        case ast.Call(func=ast.Attribute(attr=name)) if name in _SWAPPED:
            yield _with(node, func=_with(node.func, attr=_SWAPPED[name]))


def _with(node, **fields):
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _replaced(tree, node, changed):
    """Write the tree with one node replaced, found again by its place in the walk."""
    place = next(n for n, other in enumerate(ast.walk(tree)) if other is node)
    mutant = copy.deepcopy(tree)
    target = next(other for n, other in enumerate(ast.walk(mutant)) if n == place)

    class Swap(ast.NodeTransformer):
        def visit(self, other):
            return copy.deepcopy(changed) if other is target else self.generic_visit(other)

    return ast.unparse(ast.fix_missing_locations(Swap().visit(mutant)))


def _written(node):
    """Write a node in one line of at most 60 letters."""
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 60 else f"{text[:59]}…"


if __name__ == "__main__":
    lost = outcomes(sys.argv[1])
    print(*(slip for slip, loses in lost.items() if not loses), sep="\n")
    print(f"{sum(lost.values())} of {len(lost)} lose points")
