"""The drawing of a load test, held against a client that is carried out here, one answer after another."""

import pytest

from scalelab.models.waiting import omission
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.waiting import load_test

PLANNED = [30 * at for at in range(10)]
TAKES = [10, 10, 160, 10, 10, 10, 10, 10, 10, 10]
MS = 1e-3
NAMES = {"users who come": False, "one client": True}


def drawn(name):
    columns = ([MS * one for one in column] for column in (PLANNED, TAKES))
    return load_test(name, *columns, limit=0.050, waits=NAMES[name])


SHOWN = {"a load test": lambda: Stepper(*[drawn(name) for name in NAMES], choose="who asks")}


def client():
    """When it sends each and has its answer: it plans, and it waits."""
    sent, done, now = [], [], 0
    for due, took in zip(PLANNED, TAKES, strict=True):
        now = max(now, due)
        sent.append(now)
        now += took
        done.append(now)
    return sent, done


def test_a_waiting_client_has_one_request_out_and_users_have_as_many_as_come():
    sent, done = client()
    users, polite = (drawn(name) for name in NAMES)
    moments = sorted({*PLANNED, *done})
    assert len(users.frames) == len(polite.frames) == len(moments) + 1 <= 20
    for one, other, now in zip(users.frames[1:], polite.frames[1:], moments, strict=True):
        come = sum(a <= now < b for a, b in zip(PLANNED, done, strict=True))
        out = sum(a <= now < b for a, b in zip(sent, done, strict=True))
        assert (one.facts["Requests out"], other.facts["Requests out"]) == (f"{come}", f"{out}")
        assert out <= 1
        tones = [s.tone for s in other.shapes if s.kind == "circle"]
        assert tones.count(polite.tones["due, and not sent yet"]) == come - out
        assert polite.tones["waits at the server"] not in tones


def test_both_tell_what_they_counted_and_the_plan_is_the_same_for_both():
    sent, done = client()
    ends = [drawn(name).frames[-1].facts for name in NAMES]
    stays = [b - a for a, b in zip(PLANNED, done, strict=True)]
    told = [b - a for a, b in zip(sent, done, strict=True)]
    slow = [sum(one > 50 for one in times) for times in (stays, told)]
    assert slow == [6, 1]
    said = [f"{count} of 10 over 50 ms, the slowest 160 ms" for count in slow]
    assert [facts["What the test tells"] for facts in ends] == said
    assert {facts["Counted from the plan"] for facts in ends} == {"6 of 10 over 50 ms"}
    # What a correction adds for the slow one: of those who came during the pause.
    added = omission.corrected([MS * one for one in told], 0.030)
    assert slow[1] < sum(one > 0.050 for one in added) <= slow[0]


def test_the_rows_of_both_are_alike_but_for_what_their_first_part_is():
    sent, done = client()
    users, polite = (
        {s.key: s for s in drawn(name).frames[-1].shapes if s.kind == "block"} for name in NAMES
    )
    axis = next(s for s in drawn("one client").frames[0].shapes if s.key == "axis")
    each = axis.width / max(done)
    for at, (due, now) in enumerate(zip(PLANNED, sent, strict=True), 1):
        assert (f"wait {at}" in users) == (f"unsent {at}" in polite) == (now > due)
        if now > due:
            width = pytest.approx(each * (now - due))
            assert users[f"wait {at}"].width == polite[f"unsent {at}"].width == width
            assert users[f"wait {at}"].x == polite[f"unsent {at}"].x
        assert users[f"work {at}"] == polite[f"work {at}"]
        assert users[f"work {at}"].width == pytest.approx(each * TAKES[at - 1])


def test_captions_say_what_the_client_does_not_do():
    said = [frame.caption for frame in drawn("one client").frames]
    assert "Request 4 is due. The client waits for 3 and does not send it." in said
    assert "Request 3 is answered. Request 4 is sent, 130 ms late." in said
    assert said[-1].endswith("From the plan, 6 were slow.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([0.0] * 13, [1.0] * 13, 1.0), "planned must be at most 12"),
        (([0.0], [0.0], 1.0), "service must take some time"),
        (([0.0], [1.0], "slow"), "limit must be"),
        (([1.0, 0.0], [1.0, 1.0], 1.0), "arrivals must be in order"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, said):
    with pytest.raises(Refusal, match=said):
        load_test("a test", *given, waits=True)


def test_an_answer_that_came_late_is_no_wait_that_was_long():
    """Six answers took more than 50 ms, and four of them had waited as long."""
    last = drawn("users who come").frames[-1].caption
    assert "answers came after more than" in last
    assert "waited" not in last
