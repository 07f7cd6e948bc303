"""A command line is filled in word by word, and refused before anything is run."""

import contextlib
import re

import pytest
from hypothesis import given, strategies as st

from scalelab.measure.commands.words import Command, command
from scalelab.refusal import Refusal


def test_the_places_are_filled_inside_of_words_and_other_braces_stay():
    line = command("""env N={workers} awk '{print $1}' a{workers}b '{"k": {work}}' {run}""")
    assert line.words(3, "7", 2) == [
        "env", "N=3", "awk", "{print $1}", "a3b", '{"k": 7}', "2",
    ]  # fmt: skip


def test_braces_of_other_words_and_variables_of_a_shell_are_left_alone():
    line = "echo ${runs} {print} {a} {workers}"
    assert command(line, shell=True).words(1, "", 1)[2] == "echo ${runs} {print} {a} 1"


def test_a_shell_gets_the_line_as_one_word():
    line = command("echo {workers} | cat > /dev/null && echo $HOME", shell=True)
    assert line.words(3, "", 1) == ["/bin/sh", "-c", "echo 3 | cat > /dev/null && echo $HOME"]


def test_what_is_filled_in_never_becomes_two_words():
    assert Command("echo {work}").words(1, "1 2; rm", 1) == ["echo", "1 2; rm"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must be a program and its arguments, got ''"),
        ("  ", "must be a program"),
        ("a\0b {workers}", "must be a program"),
        (None, "must be a program"),
        ("torchrun train.py", r"must hold {workers}, got 'torchrun train.py': put it where"),
        ("torchrun --nproc {K} train.py", "write it for {K}"),
        ("sleep {wrk} {workers}", "got {wrk}: did you mean {work}?"),
        ("sleep {Worker} {workers}", "got {Worker}: did you mean {workers}?"),
        ("echo {workers} | cat", r"no | that a shell would read.*add --shell"),
        ("echo {workers} > file", "no > that a shell"),
        ("sleep {workers} &", "no & that a shell"),
        ("echo $HOME {workers}", "no $ that a shell"),
        ("python ~/train.py {workers}", "no ~ that a shell"),
        ("echo \udcff {workers}", "must be a program"),
        ('echo "`date`" {workers}', "no ` that a shell"),
        ("echo 'one {workers}", "must close its quotes"),
        ("no-such-program {workers}", "got 'no-such-program', none of that name: check its name"),
        ("nosuch.py {workers}", "start it by python nosuch.py"),
        ("N={workers} sh", "set variables by env"),
        ("/dev/null {workers}", "one that may not be executed: make it executable"),
    ],
)
def test_a_line_that_cannot_run_is_refused(text, sentence):
    first, _, rest = sentence.partition(".*")
    with pytest.raises(Refusal, match=f"{re.escape(first)}.*{re.escape(rest)}") as refused:
        command(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["sh -c 'a | b; $c' a~ '~' {workers}", 'sh "a|b>c" {workers} \\; \\$']
)
def test_what_is_quoted_is_no_word_of_a_shell(text):
    assert command(text).words(1, "", 1)


def test_a_program_whose_name_has_a_place_is_looked_for_when_it_is_run():
    assert command("./solve-{workers}").words(4, "", 1) == ["./solve-4"]


@given(st.text(max_size=40), st.booleans())
def test_any_text_is_a_command_or_a_refusal(text, shell):
    with contextlib.suppress(Refusal):
        assert command(text + " {workers}", shell).words(2, "1", 1)
