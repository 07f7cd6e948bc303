"""The command line of a program, with places for what differs from run to run.

{workers}, {work} and {run} are replaced; other braces stay as they are, because JSON and awk have them.
"""

import difflib
import os
import re
import shlex
import shutil
from dataclasses import dataclass

from scalelab.arguments import shown
from scalelab.refusal import Refusal

PLACES = ("workers", "work", "run")
_PLACE = re.compile(r"\{(" + "|".join(PLACES) + r")\}")
_CLOSE = re.compile(r"\{(K|k|n|N|np|nproc|worker|gpus|procs|ranks|p|P)\}")
_BRACED = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")
_QUOTED = re.compile(r"\\.|'[^']*'")
_QUOTED_TWICE = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class Command:
    """A command line, and whether a shell is to read it."""

    text: str
    shell: bool = False

    def words(self, workers: int, work: str, run: int) -> list[str]:
        """Return the program and its arguments for one run.

        >>> Command("torchrun --nproc-per-node {workers} 'my train.py'").words(4, "", 1)
        ['torchrun', '--nproc-per-node', '4', 'my train.py']
        """
        values = {"workers": str(workers), "work": work, "run": str(run)}

        def filled(text):
            return _PLACE.sub(lambda place: values[place[1]], text)

        if self.shell:
            return ["/bin/sh", "-c", filled(self.text)]
        return [filled(word) for word in shlex.split(self.text)]

    @property
    def places(self) -> set[str]:
        """The names of what is replaced in it."""
        return set(_PLACE.findall(self.text))


def command(text: str, shell: bool = False) -> Command:
    """Return the Command of a line, if it can be run for different numbers of workers.

    >>> sorted(command("sh solve.sh -n {workers} --cells {work}").places)
    ['work', 'workers']
    """
    if not isinstance(text, str) or not text.strip() or re.search("[\0\ud800-\udfff]", text):
        raise Refusal(
            f"--command must be a program and its arguments, got {shown(text)}: "
            "write it like 'torchrun --nproc-per-node {workers} train.py'"
        )
    found = Command(text, shell)
    if "workers" not in found.places:
        close = _CLOSE.search(text)
        remedy = f"write it for {close[0]}" if close else "put it where the number of workers goes"
        raise Refusal(
            f"--command must hold {{workers}}, got {shown(text)}: {remedy}; or use "
            "'env OMP_NUM_THREADS={workers} ...'"
        )
    for name in _BRACED.findall(text):
        if name not in PLACES and (near := difflib.get_close_matches(name.lower(), PLACES, 1, 0.8)):
            raise Refusal(
                f"--command must have its places spelt {{workers}}, {{work}} or {{run}}, got {{{name}}}: "
                f"did you mean {{{near[0]}}}?"
            )
    if not shell:
        _plain(text)
        _found(found)
    return found


def _plain(text):
    """Refuse what only a shell understands, and quotes that do not end."""
    bare = _QUOTED.sub("''", text)
    strange = re.search(r"[|&;<>]|(?<!\S)~", _QUOTED_TWICE.sub('""', bare))
    strange = strange or re.search(r"[$`]", bare)
    if strange:
        raise Refusal(
            f"--command must hold no {strange[0]} that a shell would read, got {shown(text)}: "
            "add --shell, or put it in quotes"
        )
    try:
        shlex.split(text)
    except ValueError:
        raise Refusal(
            f"--command must close its quotes, got {shown(text)}: add the missing one"
        ) from None


def _found(command):
    """Refuse a program that is not there, before anything is measured."""
    program = shlex.split(command.text)[0]
    variable = re.match(r"[A-Za-z_]\w*=", program)
    if shutil.which(program) or (_PLACE.search(program) and not variable):
        return
    there = os.path.exists(program)
    what = "one that may not be executed" if there else "none of that name"
    if program.endswith(".py"):
        remedy = f"start it by python {program}"
    elif variable:
        remedy = "set variables by env, as in 'env NAME=value program', or add --shell"
    else:
        remedy = "make it executable" if there else "check its name, or give its whole path"
    raise Refusal(f"--command must begin with a program, got {shown(program)}, {what}: {remedy}")
