"""Put recordings together, unless they come from different machines."""

from collections.abc import Iterable
from dataclasses import fields

from scalelab.arguments import shown
from scalelab.records import Machine, Recording
from scalelab.refusal import Refusal


def one_machine(
    machines: Iterable[Machine], remedy: str = "measure again on one, or ask for mixed=True"
) -> Machine:
    """Return the machine that all of these are, or name two that differ, and what to do. Section 3.3."""
    first, *others = machines
    for other in others:
        if other != first:
            raise Refusal(
                f"measurements must come from one machine, got {_apart(first, other)}: their times "
                f"do not compare; {remedy}"
            )
    return first


def recordings(parts: Iterable[Recording], *, title: str = "", mixed: bool = False) -> Recording:
    """Return one Recording of all the parts' samples, in order; of one machine unless `mixed`.

    Times of different machines do not compare, and one curve through them would say that they do.
    Section 3.3.

    >>> from scalelab.records import Machine, Sample
    >>> one = Recording("1", (Sample("a", (2.0,), 1, Machine("laptop", 4), "2025-11-20"),))
    >>> two = Recording("2", (Sample("b", (1.0,), 1, Machine("laptop", 4), "2025-11-21"),))
    >>> [sample.label for sample in recordings([one, two]).samples]
    ['a', 'b']
    """
    parts = list(parts)
    if not parts or not all(isinstance(part, Recording) for part in parts):
        raise Refusal(
            f"parts must be Recordings, at least one, got {shown(parts)}: read them with "
            "scalelab.records.from_json"
        )
    samples = tuple(sample for part in parts for sample in part.samples)
    if samples and not mixed:
        one_machine(sample.machine for sample in samples)
    notes = dict.fromkeys(part.note for part in parts if part.note)
    return Recording(title or parts[0].title, samples, " ".join(notes))


def _apart(one, other):
    """Name both machines, and where their names agree what tells them apart."""
    if one.name != other.name:
        return f"{one.name!r} and {other.name!r}"
    values = (
        (f.name, getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare
    )
    name, here, there = next(v for v in values if v[1] != v[2])
    return f"{one.name!r} twice, with {name} {shown(here)} and {shown(there)}"
