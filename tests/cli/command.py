"""The command line in this process, and in one of its own where the process is the point."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

from scalelab.cli import main
from tests.notebooks import ROOT

# A process finds `tests` wherever it is started.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
MODULE = (sys.executable, "-m", "scalelab")


def scalelab(*arguments, text="", folder=ROOT, errors=None, columns=None):
    """Run a command here, without a terminal, as if a process of its own had: code, output, errors.

    Where `errors` is given, what is said besides the output goes there instead; `columns` are how
    many letters a line may have.
    """
    # A kernel or a pager before may have left word of a terminal.
    plain = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
    plain |= {} if columns is None else {"COLUMNS": str(columns)}
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as err,
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))),
        mock.patch.object(sys, "path", [*sys.path]),
        mock.patch.dict(os.environ, plain, clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors or err),
        contextlib.chdir(folder),
    ):
        try:
            main([*map(str, arguments)])
        except SystemExit as end:
            code = end.code or 0
        for stream in (out, err):
            stream.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def here(*arguments):
    """Run a command in the current folder and return its code; it writes where this process does."""
    try:
        main([*map(str, arguments)])
    except SystemExit as end:
        return end.code or 0


def process(*arguments, start=MODULE, **how):
    """Run a command as a user's shell would, without a terminal."""
    how = {"env": ENVIRONMENT, "timeout": 120, "check": False, **how}
    return subprocess.run([*start, *map(str, arguments)], capture_output=True, text=True, **how)


def installed():
    """Return the path of the command that pip has put beside Python."""
    return Path(sys.executable).with_name("scalelab")
