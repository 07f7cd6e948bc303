"""The checks are tested by slips in the reference: nearly every one must cost points."""

import random

import pytest

from tests.assignments.mutants import outcomes, slips
from tests.assignments.runner import SLUGS, table
from tests.sampling import sampled, seed

ONE_PER_SLUG = pytest.mark.parametrize("slug", sampled(SLUGS, 2))
TODAY = 5  # slips of each assignment


def survivors(slug):
    """Return {slip that no check finds: why}."""
    return getattr(table(slug), "SURVIVORS", {})


@ONE_PER_SLUG
def test_todays_slips_in_the_reference_lose_points_or_are_justified(slug):
    chosen = random.Random(seed()).sample(list(slips(slug)), TODAY)
    kept = {slip for slip, loses in outcomes(slug, chosen).items() if not loses}
    assert kept == set(survivors(slug)) & set(chosen)


@pytest.mark.thorough
@ONE_PER_SLUG
def test_a_slip_in_the_reference_loses_points_or_is_justified(slug):
    kept = {slip for slip, loses in outcomes(slug).items() if not loses}
    assert kept == set(survivors(slug))


@ONE_PER_SLUG
def test_at_least_19_of_20_slips_lose_points_and_the_rest_is_justified(slug):
    assert set(survivors(slug)) <= set(slips(slug))
    assert len(survivors(slug)) <= 0.05 * len(slips(slug))
    assert all(len(why) > 20 for why in survivors(slug).values())


@ONE_PER_SLUG
def test_every_reference_has_slips_to_try(slug):
    assert len(slips(slug)) >= 40
