"""The map in CONTRIBUTING.md is that of the house as it stands."""

from tests.housemap import END, PAGE, START, renewed, rooms


def test_the_map_is_drawn_from_the_house_as_it_stands():
    page = PAGE.read_text()
    assert START in page
    assert page == renewed(page), "python -m tests.housemap"


def test_every_room_is_on_the_map():
    table = PAGE.read_text().partition(START)[2].partition(END)[0]
    assert len(table.strip().splitlines()) == len(rooms()) + 2
