"""Standard output kept for the answer: what a job prints meanwhile goes to standard error.

A user's module may print when it is imported, here and in every rank. Standard library only.
"""

import contextlib
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def stdout() -> Iterator[None]:
    """Send there what is printed in this block, by this process and by those that it starts."""
    with contextlib.redirect_stdout(sys.stderr), _descriptor():
        yield


@contextlib.contextmanager
def _descriptor() -> Iterator[None]:
    try:
        before = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        yield
        return
    try:
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)
