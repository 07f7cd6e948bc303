"""The picture on the cover of the printed book: how far more workers help jobs that do not quite divide."""

from __future__ import annotations

from math import log

from scalelab.models import scaling

SHARES = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
MOST = 1024  # workers, a power of two
WIDE, HIGH, ROOM = 520, 420, 150  # room for the words at the ends of the lines


def fan() -> str:
    """Return a drawing of Amdahl's law: the line of a job that divides, and what bends away from it."""
    counts = [2 ** (step / 8) for step in range(8 * MOST.bit_length() - 7)]
    lines = [_line(counts, counts, 'class="ideal"')]
    words = [_words(MOST, "all of it divides")]
    for turn, share in enumerate(SHARES):
        speedups = [float(scaling.amdahl(count, share)) for count in counts]
        lines.append(_line(counts, speedups, f'style="--turn: {turn / (len(SHARES) - 1):.2f}"'))
        words.append(_words(speedups[-1], f"{100 * (1 - share):g}% of it: {speedups[-1]:.0f}×"))
    ticks = [
        f'<text class="tick" x="{_x(count):.1f}" y="{HIGH + 18}">{count:,}</text>'
        for count in (1, 4, 16, 64, 256, MOST)
    ]
    alt = f"Lines fan out from one point: the speedup of jobs on 1 to {MOST:,} workers."
    return (
        f'<svg viewBox="-10 -14 {WIDE + ROOM} {HIGH + 40}" role="img" aria-label="{alt}">'
        f"{''.join([*lines, *words, *ticks])}</svg>"
    )


def _line(counts, speedups, how):
    points = " ".join(
        f"{_x(count):.1f},{_y(speedup):.1f}"
        for count, speedup in zip(counts, speedups, strict=True)
    )
    return f'<polyline points="{points}" {how}/>'


def _words(speedup, text):
    return f'<text x="{WIDE + 8}" y="{_y(speedup) + 4:.1f}">{text}</text>'


def _x(count):
    return WIDE * _share(count)


def _y(speedup):
    return HIGH * (1 - _share(speedup))


def _share(value):
    return log(value) / log(MOST)
