"""Numbers that count the operations done with them, and memory that counts the bytes that cross."""

import math

import numpy as np


class Counted(float):
    """A float whose arithmetic is counted, in `Counted.operations`."""

    operations = 0

    @classmethod
    def _count(cls, value):
        cls.operations += 1
        return cls(value)

    def __add__(self, other):
        return self._count(float(self) + other)

    def __sub__(self, other):
        return self._count(float(self) - other)

    def __mul__(self, other):
        return self._count(float(self) * other)

    def __truediv__(self, other):
        return self._count(float(self) / other)

    def larger(self, other):
        """One comparison."""
        return self._count(max(float(self), other))

    def exp(self):
        """One exponential."""
        return self._count(math.exp(self))

    def sqrt(self):
        """One square root."""
        return self._count(math.sqrt(self))


def operations(function, *arguments):
    """Return the result and how many operations it took, on counted copies of the arrays."""
    Counted.operations = 0
    given = [np.vectorize(Counted, otypes=[object])(a) for a in arguments]
    return function(*given), Counted.operations


class Memory:
    """An array beyond the chip: every load and store of a part of it is counted in bytes."""

    moved = 0

    def __init__(self, array):
        self.array = array

    def load(self, *where):
        """Bring a part on chip."""
        part = self.array[where]
        Memory.moved += part.nbytes
        return part.copy()

    def store(self, part, *where):
        """Write a part back."""
        self.array[where] = part
        Memory.moved += self.array[where].nbytes


def traffic(function, *arguments):
    """Return how many bytes a function moves between its arrays and the chip."""
    Memory.moved = 0
    function(*map(Memory, arguments))
    return Memory.moved
