"""What a bus bandwidth says about the wire, and what it does not (Section 3.8).

nccl-tests multiply bytes per second by a factor, so that a ring's number equals what flows through
each worker's port, one way, however many take part. The factor knows nothing of the algorithm that
ran: where a switch adds the numbers up, the product is above every wire.
"""

from dataclasses import dataclass, replace

from scalelab.arguments import real, shown, whole
from scalelab.links.factors import IN_SWITCH, factor, named, per_byte
from scalelab.models.machines.hardware import Link
from scalelab.models.network.bandwidth import switch_bandwidth
from scalelab.refusal import Refusal
from scalelab.units import text

# Shares of the link that large messages reach. Point to point: 230 of 300 GB/s on A100, https://
# github.com/NVIDIA/nccl-tests/issues/149, to 382 of 400 GB/s, the bundled sweep on 4 x 8 B200. In the
# switch: 60% on B300 and 69% on H100, https://github.com/NVIDIA/nccl/issues/2140.
EXPECTED = (0.75, 0.96)
EXPECTED_IN_SWITCH = (0.6, 0.75)
_CLOSE = 0.015  # a quotient this near to a known trap is that trap


@dataclass(frozen=True)
class BusBandwidth:
    """A measured collective, as bandwidths, and what to make of them."""

    algorithm_bandwidth: float  # bytes of the message per second
    bus_bandwidth: float  # that times the factor
    factor: float
    wire: float  # bytes per second through one port, one way, if the algorithm was the one named
    algorithm: str
    link: Link | None
    share: float | None  # of the link, by the wire
    expected: tuple[float, float] | None  # bus bandwidth of large messages over this link
    ceiling: float | None  # the most bus bandwidth this algorithm can show over this link
    verdict: str  # "no link given", "as expected", "below", "close to the link", "above the link"
    sentences: tuple[str, ...]


def explain_busbw(
    size: float,
    seconds: float,
    workers: int,
    collective: str = "all-reduce",
    algorithm: str | None = None,
    link: Link | None = None,
    reported: float | None = None,
) -> BusBandwidth:
    """Return what a measured collective says: its bandwidths, what the link allows, likely traps.

    `link` is that of one worker, in one direction (`models.hardware.link`). `reported` is a bus
    bandwidth that somebody printed for the same measurement, in bytes per second. Without an
    algorithm a ring is assumed, which is what the factor assumes.
    Source: nccl-tests, doc/PERFORMANCE.md. Section 3.8.

    >>> from scalelab.models.machines import hardware
    >>> found = explain_busbw(2**33, 31.77e-3, 8, link=hardware.link("NVLink 4"))
    >>> found.verdict, found.sentences[-1][:49]
    ('above the link', 'A ring cannot do that: its bus bandwidth is what ')
    """
    size = real("size", size, "it is the message, in bytes", 0, 1e18, above=True)
    seconds = real("seconds", seconds, "it is the time of one call", 1e-12, 1e9)
    workers = whole("workers", workers, "one rank has nobody to talk to", 2)
    collective = named(collective)
    if link is not None and not isinstance(link, Link):
        raise Refusal(f"link must be a Link, got {shown(link)}: take one from hardware.link(name)")
    times = factor(collective, workers)
    rate = size / seconds
    # A ring moves what the factor says, and so does every send and every pipelined broadcast.
    moved = times if algorithm is None else per_byte(collective, algorithm, workers)[1]
    bus, wire = times * rate, moved * rate
    share = expected = ceiling = None
    verdict = "no link given"
    if link is not None:
        share, ceiling = wire / link.bandwidth, link.bandwidth * times / moved
        band = _band(algorithm)
        expected = tuple(x * ceiling for x in band)
        verdict = _verdict(share, band)
    bandwidth = BusBandwidth(
        rate, bus, times, wire, algorithm or "ring", link, share, expected, ceiling, verdict, ()
    )
    sentences = [
        *_what(bandwidth, size, seconds, collective, workers),
        *_why(bandwidth, workers, collective),
    ]
    if reported is not None:
        reported = real("reported", reported, "it is in bytes per second", 0, 1e18, above=True)
        sentences.append(_trap(reported, bandwidth))
    return replace(bandwidth, sentences=tuple(sentences))


def _band(algorithm):
    return EXPECTED_IN_SWITCH if algorithm == IN_SWITCH else EXPECTED


def _verdict(share, band):
    low, high = band
    if share > 1:
        return "above the link"
    return "below" if share < low else "as expected" if share <= high else "close to the link"


def _what(bandwidth, size, seconds, collective, workers):
    yield (
        f"{text(size, 'B', binary=True)} in {text(seconds, 's')} is {_rate(bandwidth.algorithm_bandwidth)}"
        f" of message; times {bandwidth.factor:g}, the factor of {collective} on {workers} workers, that "
        f"is a bus bandwidth of {_rate(bandwidth.bus_bandwidth)}."
    )
    through = (
        f"By {_an(bandwidth.algorithm)}, {_rate(bandwidth.wire)} went through each port, each way"
    )
    if bandwidth.link is None:
        yield f"{through}."
        return
    expected = " to ".join(text(share, "%") for share in _band(bandwidth.algorithm))
    yield (
        f"{through}: {text(bandwidth.share, '%')} of the {_rate(bandwidth.link.bandwidth)} of "
        f"{bandwidth.link.name}; large messages reach {expected}."
    )


def _why(bandwidth, workers, collective):
    if bandwidth.verdict == "below":
        yield (
            "Below that the message may be too short (does a larger one get more?), the path slower "
            "than this link (PCIe, one card of several, a shared switch), or the link one of several."
        )
    if bandwidth.verdict == "close to the link":
        yield (
            "Closer to the link than protocols allow, as a rule: check that the link is counted in "
            "one direction, and that several of them do not add up."
        )
    if bandwidth.verdict == "above the link":
        yield from _above(bandwidth, workers, collective)


def _above(bandwidth, workers, collective):
    link = bandwidth.link.bandwidth
    if bandwidth.algorithm == "ring" and collective == "all-reduce":
        inside = switch_bandwidth(1, 1, workers)  # bytes per byte of the message
        most = link * bandwidth.factor / inside
        reason = f"a switch that adds (NVLS, SHARP) shows up to {_rate(most)} over this link"
        if bandwidth.bus_bandwidth <= most:
            yield (
                f"A ring cannot do that: its bus bandwidth is what flows through the wire. But {reason}"
                ", because each port carries (K+1)/K of the message and the factor still says "
                f"2 (K-1)/K; then the wire carried "
                f"{_rate(bandwidth.algorithm_bandwidth * inside)}. "
                "Whether it was, a run with NCCL_NVLS_ENABLE=0 shows."
            )
            return
        yield f"Not even a switch that adds can do that: {reason}."
    yield (
        "Look for a clock that stopped at the launch, a factor applied twice or to another "
        "collective, bits taken for bytes, several links that add up, or a wrong worker count."
    )


def _trap(reported, bandwidth):
    traps = (
        (1.0, "as computed here"),
        (1e9 / 2**30, "GiB/s printed as GB/s: 1 GiB is 1.074 GB"),
        (2**30 / 1e9, "a size in GB taken for GiB: 1 GiB is 1.074 GB"),
        (1 / bandwidth.factor, "the algorithm's bandwidth, without the factor"),
        (bandwidth.factor, "the factor applied twice"),
        (8.0, "bits, not bytes"),
        (1 / 8, "bytes taken for bits"),
        (2.0, "both directions added up"),
        (0.5, "half of it: a link of both directions halved once too often"),
    )
    ratio = reported / bandwidth.bus_bandwidth
    near = [why for quotient, why in traps if abs(ratio / quotient - 1) < _CLOSE]
    why = " or ".join(dict.fromkeys(near)) or "no mistake that is known here explains it"
    return f"The reported {_rate(reported)} is {text(ratio)} times that: {why}."


def _rate(value):
    return text(value, "B/s")


def _an(algorithm):
    if algorithm == IN_SWITCH:
        return "a sum in the switch"
    return f"{'an' if algorithm[0] in 'aio' else 'a'} {algorithm}"
