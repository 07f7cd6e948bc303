"""A sample as cells of text, each under a name: what CSV and the files of other tools have room for.

Numbers and lists are written as in JSON, text as it is; an empty cell is a value that was not stated.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from scalelab import stored
from scalelab.records import Machine, Sample
from scalelab.refusal import Refusal

Condition = float | str | bool
EMPTY = ("", "{}", "[]")  # what says nothing, and may be left out

PLAIN = {
    f.name: f.type for f in fields(Sample) if f.name not in ("seconds", "given", "machine", "kind")
}
MACHINE = {f"machine.{f.name}": f.type for f in fields(Machine)}


def stated(sample: Sample) -> dict[str, str]:
    """Return all that repetitions share but the conditions: `label`, `inner`, `machine.name` ...

    >>> step = Sample("a step", (0.5,), 1, Machine("laptop", 4), "2025-11-20", given={"workers": 2})
    >>> stated(step)["machine.cores"], conditions(step)
    ('4', {'workers': '2'})
    """
    own = {name: _cell(kind, getattr(sample, name)) for name, kind in PLAIN.items()}
    host = {n: _cell(k, getattr(sample.machine, n.partition(".")[2])) for n, k in MACHINE.items()}
    return own | host


def conditions(sample: Sample) -> dict[str, str]:
    """Return the conditions, from which `condition` makes the same again."""
    made = {}
    for name, value in sample.given.items():
        ambiguous = not isinstance(value, str) or condition(value) != value or not value
        made[name] = json.dumps(value) if ambiguous else str(value)
    return made


def condition(cell: str) -> Condition:
    """Return the number, truth or quoted text that a cell holds; else it is text as it stands.

    >>> condition("4"), condition("gcc"), condition("true"), condition('"4"')
    (4, 'gcc', True, '4')
    """
    value = _value(None, cell)
    return value if isinstance(value, (int, float, str)) else cell


def sample(
    own: Mapping[str, str],
    given: Mapping[str, Condition],
    seconds: Sequence[float],
    *,
    machine: Machine | None = None,
    date: str = "",
    title: str = "",
) -> Sample:
    """Build a Sample from what `stated` wrote, or less: the machine, the date and the label may be given."""
    known = {name: cell for name, cell in own.items() if cell or PLAIN.get(name) is str}
    host = {n.partition(".")[2]: _value(k, known[n]) for n, k in MACHINE.items() if n in known}
    if not host.get("name"):
        if machine is None:
            raise Refusal(
                "row must say the machine, got no machine.name: add that column, or give machine="
            )
        host = stored.plain(machine) | host
    data: dict[str, Any] = {"label": title, "inner": 1, "date": date}
    data |= {name: _value(kind, known[name]) for name, kind in PLAIN.items() if name in known}
    data |= {"date": data["date"] or date, "seconds": list(seconds)}
    return stored.build(Sample, data | {"machine": {"cores": None} | host, "given": dict(given)})


def _cell(kind, value):
    if kind is str:
        return value
    return "" if value is None else json.dumps(stored.plain(value))


def _value(kind, cell):
    if kind is str:
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell  # of the wrong type, which is then said where the field is known
