"""Turn a student's value into plain data, without running a line of the student's own code.

Plain data is None, Ellipsis, bool, int, float, complex, str, lists of these, and dictionaries
with such keys: what can be compared safely here and sent between processes. Conversions go
through the methods of the built-in types, never through those a student could have replaced.
Imports NumPy; knows torch, pandas and matplotlib only once somebody else has imported them.
"""

import array
import collections
import dataclasses
import datetime
import itertools
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

ITEMS, DEPTH, LETTERS = 100_000, 20, 10_000  # more than any task asks for
_SAID = ("title", "xlabel", "ylabel", "xscale", "yscale")  # of a panel


@dataclass(frozen=True)
class Unreadable:
    """Something that is no plain data; `what` says what it is instead.

    >>> plain(object())
    Unreadable(what='an object of type object')
    """

    what: str


class _TooMuch(Exception):
    """More items than any answer has."""


def plain(value: object) -> object:
    """Return `value` as plain data, or as an Unreadable.

    >>> plain((np.float64(2.5), np.arange(3), True))
    [2.5, [0, 1, 2], True]
    >>> plain(x for x in "abc")
    Unreadable(what='a generator, which holds no values yet: make it a list')
    """
    try:
        return _plain(value, DEPTH, [ITEMS])
    except _TooMuch:
        return Unreadable(f"more than {ITEMS} values, or lists nested deeper than {DEPTH}")
    except Exception:  # a fake module, an array without memory: whatever it is, it is no answer
        return Unreadable(f"an object of type {type_name(type(value))} that cannot be read")


def _plain(value, depth, left):
    left[0] -= 1
    if left[0] < 0 or depth < 0:
        raise _TooMuch
    kind = type(value)
    if value is None or value is ... or kind is bool:
        return value
    if kind is Unreadable and type(value.what) is str:  # it was read in the student's process
        return value
    # The unbound method of the base type, so that a subclass cannot answer for its number.
    for base, read in _SCALARS:
        if issubclass(kind, base):
            return read(value)
    if kind in (Fraction, Decimal):
        return float(value)
    if (number := _counted(value, kind)) is not None:
        return number
    if issubclass(kind, str):
        text = str.__str__(value)
        return text if len(text) <= LETTERS else Unreadable(f"a text of {len(text)} letters")
    if issubclass(kind, np.generic):
        return _plain(_item(value), depth - 1, left)
    items = _items(value, kind)
    if items is not None:
        return _each(items, depth, left)
    if _is_record(kind):
        value, kind = _fields(value, kind), dict
    elif (figure := _drawn(value, kind)) is not None:
        value, kind = figure, dict
    if issubclass(kind, dict):
        if dict.__len__(value) > left[0]:
            raise _TooMuch
        pairs = [(_plain(k, depth - 1, left), v) for k, v in dict.items(value)]
        if all(isinstance(k, (str, int, float)) for k, _ in pairs):
            return {k: _plain(v, depth - 1, left) for k, v in pairs}
    return Unreadable(_WORDS.get(type_name(kind)) or f"an object of type {type_name(kind)}")


def _counted(value, kind):
    """Return the seconds of a span of time, or the number that SymPy worked out; else None."""
    pandas, sympy = sys.modules.get("pandas"), sys.modules.get("sympy")
    if kind is np.timedelta64:
        return float(value / np.timedelta64(1, "s"))
    if kind is datetime.timedelta or (pandas and kind is pandas.Timedelta):
        return kind.total_seconds(value)
    if sympy and issubclass(kind, sympy.Expr) and _module(kind).startswith("sympy."):
        return int(value) if value.is_Integer else float(value)
    return None


def _module(kind):
    """Return the name of the module that a type was made in, or "" where it claims another thing."""
    module = type.__dict__["__module__"].__get__(kind)
    return module if type(module) is str else ""


def _is_record(kind):
    """Say whether a type is one of the package's own dataclasses, and not one that only says so."""
    module = _module(kind)
    if not module.startswith("scalelab."):
        return False
    own = vars(sys.modules.get(module, object)).get(type_name(kind))
    return own is kind and dataclasses.is_dataclass(kind)


def _fields(record, kind):
    """Return what a record holds but its machine, which is nobody's answer."""
    fields = ((f.name, object.__getattribute__(record, f.name)) for f in dataclasses.fields(kind))
    return {name: value for name, value in fields if type_name(type(value)) != "Machine"}


def _each(items, depth, left):
    if not isinstance(items, list):  # one number that came in an array without dimensions
        return _plain(items, depth - 1, left)
    if len(items) > left[0]:
        raise _TooMuch
    return [_plain(item, depth - 1, left) for item in items]


def _items(value, kind):
    """Return the items of a sequence, an array or a table (row by row), else None."""
    if issubclass(kind, list):
        return list(list.__iter__(value))
    if issubclass(kind, tuple):
        return list(tuple.__iter__(value))
    if kind in _LISTS:
        return list(itertools.islice(value, ITEMS + 1))
    if issubclass(kind, np.ndarray):
        return _array(np.ndarray.view(value, np.ndarray))
    torch, pandas = sys.modules.get("torch"), sys.modules.get("pandas")
    if torch and kind in (torch.Tensor, torch.nn.Parameter):
        if torch.Tensor.numel(value) > ITEMS:
            raise _TooMuch
        return torch.Tensor.tolist(torch.Tensor.detach(value))
    if pandas and kind is pandas.DataFrame and kind.index.__get__(value).name is not None:
        value = kind.reset_index(value)  # an index with a name is a column
    if pandas and kind in (pandas.Series, pandas.Index, pandas.RangeIndex, pandas.DataFrame):
        return _array(kind.to_numpy(value))
    return None


def _array(given):
    if given.size > ITEMS:
        raise _TooMuch
    if given.dtype.kind == "m":
        given = given / np.timedelta64(1, "s")
    return given.tolist()


def _item(value):
    """Return a NumPy scalar as a Python one; long doubles have no other way down."""
    item = np.generic.item(value)
    if type(item) is np.longdouble:
        return float(item)
    return complex(item) if type(item) is np.clongdouble else item


def type_name(kind: type) -> str:
    """Return the name of a type, whatever its metaclass would like to be called.

    >>> type_name(dict)
    'dict'
    """
    return type.__dict__["__name__"].__get__(kind)


def _real(value):
    """Return a complex number, or its real part where rounding left nothing else of a root."""
    number = complex.__complex__(value)
    return number.real if abs(number.imag) <= 1e-9 * abs(number.real) else number


_SCALARS = (
    (bool, bool),
    (int, int.__int__),
    (float, float.__float__),
    (complex, _real),
)
_LISTS: tuple[type, ...] = (
    *(range, collections.deque, array.array),
    *(type({}.keys()), type({}.values()), type({}.items())),
)
_WORDS = {
    "generator": "a generator, which holds no values yet: make it a list",
    "map": "a map object, which holds no values yet: make it a list",
    "filter": "a filter object, which holds no values yet: make it a list",
    "zip": "a zip object, which holds no values yet: make it a list",
    "set": "a set, which has no order: make it a list",
    "frozenset": "a set, which has no order: make it a list",
    "function": "a function: call it",
    "dict": "a dictionary whose keys are neither text nor numbers",
}


def _drawn(value, kind):
    """Return a figure of matplotlib, or one panel of it, as a dictionary of lists and arrays; else None.

    Only matplotlib's own classes count: a class made from them could say anything of itself.
    """
    figures, axes = (sys.modules.get(f"matplotlib.{name}") for name in ("figure", "axes"))
    if figures and kind is figures.Figure:
        return {"figure": [_panel(one) for one in kind.axes.fget(value)]}
    return {"figure": [_panel(value)]} if axes and kind is axes.Axes else None


def _panel(axes):
    kind = type(axes)
    legend = kind.get_legend(axes)
    return {
        **{name: getattr(kind, f"get_{name}")(axes) for name in _SAID},
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
        "lines": [
            {
                "label": _label(line),
                "x": line.get_xdata(orig=False),
                "y": line.get_ydata(orig=False),
            }
            for line in kind.get_lines(axes)
        ],
        "points": [
            {"label": _label(dots), "x": dots.get_offsets()[:, 0], "y": dots.get_offsets()[:, 1]}
            for dots in axes.collections
            if type(dots).__name__ == "PathCollection"
        ],
        "bars": [
            {"label": _label(bars), "y": [bar.get_height() for bar in bars]}
            for bars in axes.containers
            if type(bars).__name__ == "BarContainer"
        ],
    }


def _label(artist):
    label = artist.get_label()
    return "" if str(label).startswith("_") else label  # a name that matplotlib made up
