"""What nbgrader's exchange finds beside our pages; tests/cycle/test_guide.py goes through it."""

import shutil
import subprocess

import pytest

from scalelab.grading.box import bubblewrap
from tests.children import environment
from tests.grading.out.test_out import SLUG, book, grade, hand_in, make
from tests.notebooks import ROOT
from tests.submissions import classes

pytestmark = [
    pytest.mark.course,
    pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing),
]


@pytest.fixture
def nbgrader(tmp_path):
    """Return a function that types a command of nbgrader in a folder, with settings of its own."""
    settings = tmp_path / "settings"
    settings.mkdir()
    folders = dict.fromkeys(["HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"], str(settings))
    own = environment(IPYTHONDIR=str(settings / "ipython"), **folders)

    def typed(folder, *words):
        done = subprocess.run(
            ["nbgrader", *words], cwd=folder, env=own, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    yield typed
    classes.close()


@pytest.mark.thorough
def test_a_hand_in_that_can_no_longer_be_read_leaves_no_page_that_stops_nbgrader(
    nbgrader, tmp_path
):
    make(tmp_path)
    grade(tmp_path)
    (tmp_path / "course" / "submitted" / "ada" / SLUG / f"{SLUG}.ipynb").write_text("{")
    hand_in(tmp_path, "cleo", answer_1_4="Because ![it](attachment:image.png).")
    grade(tmp_path)
    nbgrader(tmp_path, "generate_feedback", SLUG, "--force")
    with book(tmp_path) as opened:
        assert {s.student_id for s in opened.find_assignment(SLUG).submissions} == {"ben", "cleo"}


@pytest.mark.parametrize("secret", ["a link", "a folder", "../../x", "z" * 9999])
def test_no_secret_of_a_students_making_leads_anywhere(secret, tmp_path):
    from scalelab.grading.inputs import course as courses
    from scalelab.grading.inputs.collect import Submission
    from scalelab.grading.inputs.source import load
    from scalelab.grading.judging.result import result
    from scalelab.grading.returned import exchange

    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    laws = load(ROOT, SLUG)
    place = tmp_path / "course" / "submitted" / "ada" / SLUG / exchange.SECRET
    place.parent.mkdir(parents=True)
    if secret == "a link":
        (tmp_path / "other").write_text("s" * 64)
        place.symlink_to(tmp_path / "other")
    elif secret == "a folder":
        place.mkdir()
    else:
        place.write_text(secret)
    found = courses.find(tmp_path)
    ada, ben = (exchange.notes(found, laws, result(laws, Submission(n))) for n in ("ada", "ben"))
    assert len(ada[exchange.SECRET]) == 64
    assert ada[exchange.SECRET] not in (ben[exchange.SECRET], "s" * 64)
