"""FLOPs and bytes of the standard kernels, counted from their shapes (Section 3.7).

Bytes are compulsory traffic: every operand is read once, every result written once. No
implementation moves less; one that does not fit its cache moves more, and so does a processor that
reads a line before it overwrites it. A multiply-add is two FLOPs; a comparison, an exponential or a
division is one; what happens once per row is dropped beside what happens once per number.
"""

from collections.abc import Callable
from dataclasses import dataclass

from scalelab.arguments import shown
from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.kernels import roofline
from scalelab.refusal import Refusal

Formula = Callable[..., Floats]  # of all sizes and the width

_MEANING = {
    "elements": "it counts the numbers in the vector",
    "rows": "it counts the rows, each treated on its own",
    "columns": "it counts the numbers in a row",
    "m": "it counts the rows of the result",
    "n": "it counts the columns of the result",
    "k": "it counts the products summed into one number of the result",
    "batch": "it counts the independent problems of this shape",
    "operands": "it counts the vectors that are read",
    "each": "it counts the FLOPs for each number of the result",
}


@dataclass(frozen=True)
class Kernel:
    """What a kernel computes and what it has to move; a sweep of shapes is a Kernel of arrays."""

    name: str
    flops: float | Floats
    bytes: float | Floats

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise Refusal(f"name must be text, got {shown(self.name)}: it labels the point")
        numbers("flops", self.flops, "it counts floating-point operations", 0)
        numbers("bytes", self.bytes, "it counts the bytes moved", 0, above=True)

    @property
    def intensity(self) -> Answer:
        """FLOPs per byte, the place on the roofline."""
        return roofline.intensity(self.flops, self.bytes)


def copy(elements: Numbers, width: Numbers) -> Kernel:
    """The kernel y = x, with `width` bytes a number: no FLOPs, x read and y written.

    Source: McCalpin 1995, https://www.cs.virginia.edu/stream/. Section 3.7.

    >>> copy(1000, width=4)
    Kernel(name='copy', flops=0.0, bytes=8000.0)
    """
    return _kernel("copy", lambda n, w: 0 * n, lambda n, w: 2 * n * w, width, elements=elements)


def axpy(elements: Numbers, width: Numbers) -> Kernel:
    """The kernel y = a x + y: 2 n FLOPs; x and y read, y written.

    Source: the definition, BLAS level 1. Section 3.7.

    >>> axpy(1000, width=4).intensity
    0.16666666666666666
    """
    return _kernel("axpy", lambda n, w: 2 * n, lambda n, w: 3 * n * w, width, elements=elements)


def elementwise(
    elements: Numbers, width: Numbers, operands: Numbers = 2, each: Numbers = 1
) -> Kernel:
    """Number by number, vectors of one length into another: `each` n FLOPs; operands read, one written.

    Source: the definition. Section 3.7.

    >>> apart, fused = elementwise(1000, 4), elementwise(1000, 4, operands=3, each=2)
    >>> 2 * apart.bytes, fused.bytes  # a b + c as a product and a sum, or in one walk
    (24000.0, 16000.0)
    """
    return _kernel(
        "elementwise",
        lambda n, r, e, w: e * n,
        lambda n, r, e, w: (r + 1) * n * w,
        width,
        elements=elements,
        operands=operands,
        each=each,
    )


def dot(elements: Numbers, width: Numbers) -> Kernel:
    """The inner product of x and y: 2 n FLOPs; x and y read, one number written.

    Source: the definition, BLAS level 1. Section 3.7.

    >>> dot(1000, width=4)
    Kernel(name='dot', flops=2000.0, bytes=8004.0)
    """
    return _kernel(
        "dot", lambda n, w: 2 * n, lambda n, w: (2 * n + 1) * w, width, elements=elements
    )


def softmax(rows: Numbers, columns: Numbers, width: Numbers) -> Kernel:
    """The softmax of each row: 5 FLOPs a number; the rows read and written once.

    They are: compare for the maximum, subtract it, exponential, add, divide.
    Source: the definition; a row stays on chip meanwhile. Section 3.7.

    >>> softmax(4, 1000, width=4)
    Kernel(name='softmax', flops=20000.0, bytes=32000.0)
    """
    return _kernel(
        "softmax",
        lambda r, c, w: 5 * r * c,
        lambda r, c, w: 2 * r * c * w,
        width,
        rows=rows,
        columns=columns,
    )


def layer_norm(rows: Numbers, columns: Numbers, width: Numbers) -> Kernel:
    """The layer normalisation of each row: 7 FLOPs a number; rows, one gain and one bias moved.

    They are: add for the mean; subtract, square, add for the variance; scale, gain, bias.
    Source: Ba, Kiros and Hinton 2016, arXiv:1607.06450; a row stays on chip. Section 3.7.

    >>> layer_norm(4, 1000, width=4)
    Kernel(name='layer norm', flops=28000.0, bytes=40000.0)
    """
    return _kernel(
        "layer norm",
        lambda r, c, w: 7 * r * c,
        lambda r, c, w: 2 * (r + 1) * c * w,
        width,
        rows=rows,
        columns=columns,
    )


def gemv(m: Numbers, k: Numbers, width: Numbers) -> Kernel:
    """The kernel y = A x with A of m by k: 2 m k FLOPs, and all of A moves for one vector.

    Source: the definition, BLAS level 2. Section 3.7.

    >>> round(gemv(4096, 4096, width=2).intensity, 3)
    1.0
    """
    return _kernel(
        "gemv", lambda m, k, w: 2 * m * k, lambda m, k, w: (m * k + k + m) * w, width, m=m, k=k
    )


def gemm(m: Numbers, n: Numbers, k: Numbers, width: Numbers, batch: Numbers = 1) -> Kernel:
    """The kernel C = A B with A of m by k and B of k by n: 2 m n k FLOPs; A, B read, C written.

    A batch is that many products, each with its own operands.
    Source: the definition, BLAS level 3. Section 3.7.

    >>> gemm([1, 64, 4096], 4096, 4096, width=2).intensity.round()
    array([1.000e+00, 6.200e+01, 1.365e+03])
    """
    return _kernel(
        "gemm",
        lambda m, n, k, b, w: 2 * b * m * n * k,
        lambda m, n, k, b, w: b * (m * k + k * n + m * n) * w,
        width,
        m=m,
        n=n,
        k=k,
        batch=batch,
    )


def _kernel(name: str, flops: Formula, bytes: Formula, width: Numbers, **sizes: Numbers) -> Kernel:
    """Check the sizes by name and evaluate both counts on them, with the width last."""
    given = [numbers(size, value, _MEANING[size], 1) for size, value in sizes.items()]
    given.append(
        numbers("width", width, "it is the bytes of a number, 2 for bfloat16", 0, above=True)
    )
    return Kernel(name, answer(flops, *given), answer(bytes, *given))
