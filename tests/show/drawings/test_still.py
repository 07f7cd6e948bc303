"""Frames of drawings as a PNG: what stands where, read from its pixels."""

import base64
import io

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from scalelab.show import draw
from scalelab.show.drawings import Drawing, Frame, Shape, Stepper
from tests.show.drawings import every

DPI, GAP, LINE = 72, 24, 14  # a pixel is then a unit; around each frame, and of its title
TITLE = "T"


def drawing(*shapes, chosen=(0,), frames=1, tones=None, title=TITLE):
    given = [Frame(f"Step {at}.", shapes if at == chosen[-1] else ()) for at in range(frames)]
    return Drawing("one", title, "about", 100, 60, tuple(given), chosen, tones or {})


def pixels(stepper, dpi=DPI):
    from scalelab.show.drawings import still

    data = still.png(stepper.stills, stepper.tones, dpi=dpi)
    return imread(io.BytesIO(data))[:, :, :3]


def at(image, x, y, frame=0):
    """The colour at a place of a frame on the first row of the sheet."""
    return image[round(GAP + LINE + y), round(GAP + x + frame * (100 + GAP))]


def tone(number, share=1.0):
    return share * np.array(to_rgb(draw.TONES[number])) + 1 - share


def close(one, other):
    return np.abs(one - other).max() < 0.03


def test_each_kind_of_shape_stands_where_it_is_said_to_in_its_tone():
    image = pixels(
        Stepper(
            drawing(
                Shape("line", "line", 5, 5, 90, 0, tone=1, weight=4),
                Shape("arrow", "arrow", 5, 12, 90, 0, tone=2, weight=4),
                Shape("block", "block", 20, 30, 20, 20, tone=3),
                Shape("bar", "bar", 50, 30, 20, 20, tone=4, cells=(True, False)),
                Shape("circle", "circle", 80, 30, 20, 20, tone=5),
                Shape("box", "box", 20, 50, 20, 10, tone=2),
            )
        )
    )
    assert close(at(image, 50, 5), tone(1))
    assert close(at(image, 50, 12), tone(2))
    assert close(at(image, 20, 30), tone(3, 0.22))
    assert close(at(image, 50, 35), tone(4))  # the lower cell is the first
    assert not close(at(image, 50, 25), tone(4))
    assert close(at(image, 80, 30), np.ones(3))
    ring = [at(image, x, 30) for x in np.arange(67, 73, 0.5)]
    assert min(np.abs(one - tone(5)).max() for one in ring) < 0.5
    assert close(at(image, 20, 50), np.ones(3))


def test_what_has_gone_is_not_drawn_and_each_chosen_frame_is():
    stepper = Stepper(drawing(Shape("a", "block", 50, 30, 20, 20, tone=1), chosen=(0, 2), frames=3))
    image = pixels(stepper)
    assert close(at(image, 50, 30, frame=0), np.ones(3))
    assert close(at(image, 50, 30, frame=1), tone(1, 0.22))


def test_of_several_drawings_the_last_chosen_frame_of_each_stands_there_as_on_paper():
    shape = Shape("a", "block", 50, 30, 20, 20, tone=1)
    two = Stepper(drawing(shape, chosen=(0, 1), frames=2), drawing(shape, chosen=(1,), frames=2))
    assert [step for _, step in two.stills] == [1, 1]
    assert two.html().count('class="sl-still"') == 2
    image = pixels(two)
    assert all(close(at(image, 50, 30, frame), tone(1, 0.22)) for frame in (0, 1))


def test_a_sign_of_mathematics_in_a_word_is_written_as_it_is():
    with_words = Shape("a", "box", 50, 30, 90, 20, text="$2 and $3_{")
    assert pixels(Stepper(drawing(with_words, title="$1^{ and $2"))).size


def test_a_word_that_is_wider_than_its_block_is_left_out():
    dark = [
        pixels(Stepper(drawing(Shape("a", "block", 50, 30, wide, 20, text="word"))))
        for wide in (20, 40)
    ]
    ink = np.array(to_rgb(draw.LIGHT["ink"]))
    found = [
        (np.abs(one[GAP + LINE : GAP + LINE + 60] - ink).max(axis=2) < 0.2).any() for one in dark
    ]
    assert found == [False, True]


def test_the_meaning_of_its_tones_stands_below_it():
    bare = pixels(Stepper(drawing()))
    told = pixels(Stepper(drawing(tones={"waits": 2})))
    assert len(told) > len(bare)
    assert np.abs(told[len(bare) - GAP :] - tone(2)).max(axis=2).min() < 0.03


@pytest.mark.parametrize("name", ["ring of four", "a hedge"])
def test_a_viewer_without_html_gets_the_picture_of_a_drawing_of_the_book(name):
    bundle = every()[name]()._repr_mimebundle_()
    image = imread(io.BytesIO(base64.b64decode(bundle["image/png"])))
    assert image.shape[1] > 600
    assert len(np.unique(image[:, :, :3].reshape(-1, 3), axis=0)) > 20
    assert bundle["text/plain"]
