"""Links that leave the book: their form is checked, and nobody is asked."""

import pytest

from tests.browser import outside
from tests.browser.conftest import nothing


@pytest.fixture(scope="module")
def links(book):
    return outside.links(book)


def test_every_address_outside_has_the_form_of_one_that_lasts(links):
    faults = {address: outside.fault(address) for address in links}
    nothing([f"{at} {said}: see {links[at][0]}" for at, said in faults.items() if said])


def test_no_place_outside_has_two_spellings(links):
    nothing(outside.doubles(links))


def test_the_list_holds_what_pages_link_to_and_where(links):
    assert "chapters/05_laws" in links["https://doi.org/10.1145/42411.42415"]
    assert len(links) > 100


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://arxiv.org/abs/2205.14135", ""),
        ("https://doi.org/10.1016/S0167-8191(06)80021-9", ""),
        ("mailto:somebody@example.org", ""),
        ("mailto:somebody", "is no address of mail"),
        ("http://arxiv.org/abs/2205.14135", "is not https"),
        ("//arxiv.org/abs/2205.14135", "is not https"),
        ("javascript:alert(1)", "is not https"),
        ("https://a.org/https://b.org", "holds two addresses"),
        ("https://queue.acm.org/detail.", "ends in punctuation"),
        ("https://queue.acm.org/a(b", "ends in punctuation"),
        ("https://queue.acm.org/a b", "holds a space"),
        ("https://localhost/a", "names no public host"),
        ("https://10.0.0.1/a", "names no public host"),
        ("https://[::1]/a", "names no public host"),
        ("https://www.example.org/a", "names no public host"),
        ("https://me:word@queue.acm.org", "names no public host"),
        ("https://queue.acm.org:8443/a", "names a port"),
        ("https://bit.ly/3abc", "hides where it leads"),
        ("https://queue.acm.org/a?utm_source=x", "says who sent the reader"),
        ("https://queue.acm.org/a?id=1&fbclid=", "says who sent the reader"),
        ("https://doi.org/42411.42415", "is no DOI"),
        ("https://dl.acm.org/doi/10.1145/42411.42415", "should be https://doi.org/10..."),
        ("https://arxiv.org/pdf/2205.14135", "is not an abstract of arXiv"),
    ],
)
def test_a_fault_is_named(address, said):
    assert outside.fault(address) == said


def test_spellings_of_one_place_are_found():
    same = [
        "https://doi.org/10.1/AB",
        "https://doi.org/10.1/ab",
        "http://www.a.org/",
        "https://a.org",
    ]
    assert outside.doubles([*same, "https://a.org/b"]) == [same[:2], same[2:]]
