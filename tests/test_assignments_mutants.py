"""The checks are tested by slips in the reference: nearly every one must cost points."""

import pytest

from tests.assignments.mutants import mutants, outcomes
from tests.assignments.runner import SLUGS, Assignment, table


@pytest.mark.parametrize("slug", SLUGS)
def test_a_slip_in_the_reference_loses_points_or_is_justified(slug):
    survivors = {slip for slip, loses in outcomes(slug).items() if not loses}
    assert survivors == set(getattr(table(slug), "SURVIVORS", {}))
    assert all(len(why) > 20 for why in getattr(table(slug), "SURVIVORS", {}).values())


@pytest.mark.parametrize("slug", SLUGS)
def test_at_least_19_of_20_slips_lose_points(slug):
    lost = outcomes(slug).values()
    assert sum(lost) >= 0.95 * len(lost)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_reference_has_slips_to_try(slug):
    assignment = Assignment(slug)
    assert sum(len(mutants(assignment.cells[key].source)) for key in assignment.answers) >= 40
