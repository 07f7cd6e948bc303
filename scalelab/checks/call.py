"""Run a student's function so that nothing it does can disturb the check.

Its prints, warnings and log lines go nowhere, because stock nbgrader gives 0 points to a check
cell that writes to stderr; its exceptions come back as data; its endless loops are cut short.
Standard library only, plus `plain`.
"""

import contextlib
import copy
import io
import itertools
import logging
import os
import signal
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from scalelab.checks.plain import ITEMS, plain, type_name


@dataclass(frozen=True)
class Outcome:
    """What a call came to: plain data, or the name of the exception and what it said."""

    value: object = None
    error: str = ""  # the exception's name, or "Timeout"
    said: str = ""
    attempted: bool = True  # not so where there is no code yet, or NotImplementedError says so


class _Timeout(BaseException):
    """Not an Exception, so that `except Exception` in a student's loop does not swallow it."""


def call(
    function: Callable[..., object], arguments: Iterable[object] = (), seconds: float = 10.0
) -> Outcome:
    """Call `function` on copies of plain arguments and return what came out as an Outcome.

    >>> call(lambda workers: 1 / workers, [4]).value
    0.25
    >>> call(lambda workers: 1 / workers, [0])
    Outcome(value=None, error='ZeroDivisionError', said='division by zero', attempted=True)
    """
    return next(calls(function, [arguments], seconds))


def calls(
    function: Callable[..., object], cases: Iterable[Iterable[object]], seconds: float = 10.0
) -> Iterator[Outcome]:
    """Yield the Outcome of a call on every case; the one that is at work when the time is up is the last."""
    end = time.monotonic() + seconds
    with _quiet():
        for arguments in cases:
            outcome = _outcome(function, arguments, max(end - time.monotonic(), 0.01))
            yield outcome
            if outcome.error == "Timeout":
                return


def _outcome(function, arguments, seconds):
    try:
        with _limited(seconds):
            try:
                value = plain(_all(function(*copy.deepcopy(list(arguments)))))
                return Outcome(value, attempted=value is not None or not _bare(function))
            except _Timeout:
                raise
            except BaseException as error:
                return _failed(error)
    except _Timeout:
        return Outcome(error="Timeout")
    except BaseException as error:  # an exception whose own text raises, a bell that rang late
        return Outcome(error=type_name(type(error)))


def _all(result):
    """Return what a generator or the like still has to give as a list, and all else as it is."""
    if issubclass(type(result), Iterator):
        return list(itertools.islice(result, ITEMS + 1))
    return result


def _undocumented(): ...


def _documented():
    """Do nothing."""


_EMPTY = {_undocumented.__code__.co_code, _documented.__code__.co_code}


def _bare(function):
    """Say whether a function has no code of its own, as one that was handed out."""
    return type(function) is types.FunctionType and function.__code__.co_code in _EMPTY


def _failed(error):
    if issubclass(type(error), NotImplementedError):
        return Outcome(attempted=False)
    message = plain(str(error))
    words = message.split() if isinstance(message, str) else []
    return Outcome(error=type_name(type(error)), said=" ".join(words)[:200])


class _Sink(io.TextIOBase):
    """Takes any amount of text and keeps none."""

    def writable(self):
        return True

    def write(self, text):
        return len(text)


@contextlib.contextmanager
def _quiet():
    level = logging.root.manager.disable
    # Libraries written in C write to the descriptor, which a notebook kernel shows as stderr too.
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        with (
            contextlib.redirect_stdout(_Sink()),
            contextlib.redirect_stderr(_Sink()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            logging.disable(logging.CRITICAL)
            yield
    finally:
        logging.disable(level)
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


@contextlib.contextmanager
def _limited(seconds):
    """Raise _Timeout in the block after some seconds, and again twice a second.

    Only the main thread of a Unix process can be interrupted; elsewhere there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_):
        raise _Timeout

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
