"""What a plan starts from: a model, a layout, a cluster and a goal, from one small TOML or JSON file.

Numbers are SI or text with a unit ("30 d", "400 Gbit/s", "70B"). What is not given and cannot be derived is
an assumption, and stands in `keys` with its source; an unknown key is an error.
"""

import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from scalelab.arguments import meant, shown
from scalelab.files import files
from scalelab.models.kernels import transformer
from scalelab.models.kernels.transformer import Transformer
from scalelab.models.machines import hardware
from scalelab.models.network.network import Network
from scalelab.plan.job import Cluster, Goal, Job, Layout
from scalelab.plan.keys import KEYS, table
from scalelab.refusal import Refusal

MOST_BYTES = 2**20  # a plan is a page of text
NEEDED = ("model", "training", "cluster")


def read(path: Path) -> Job:
    """Return the job in a file; what ends in .json is JSON, all else TOML."""
    try:
        content = files.text(path, MOST_BYTES)
    except Refusal as error:
        start = "scalelab plan --example > plan.toml writes one to start from"
        raise Refusal(f"{error}; {start}") from None
    return parse(content, path.name)


def parse(raw: bytes | str, name: str = "plan.toml") -> Job:
    """Return the job in the bytes or the text of a file.

    >>> job = parse(example())
    >>> job.shape.layers, job.cluster.device, job.goal.deadline / 86400
    (32, 'H100 SXM', 21.0)
    """
    return described(_decoded(raw, name), name)


def example() -> str:
    """Return the annotated example, as TOML.

    >>> example().splitlines()[0][:13]
    '# A plan for '
    """
    return (resources.files("scalelab.data") / "plan_example.toml").read_text(encoding="utf-8")


def described(given: object, name: str = "plan") -> Job:
    """Return the job that nested tables describe."""
    if not isinstance(given, dict):
        raise Refusal(f"{name} must hold tables, got {shown(given)}: begin with [model]")
    for key in given:
        if key not in KEYS:
            raise Refusal(
                f"{name} must hold tables that are known, got {shown(key)}: {meant(key, KEYS)}"
            )
    for key in NEEDED:
        if key not in given:
            raise Refusal(f"{name} must have a table {key}, got none: write [{key}]")
    parts = {key: table(name, key, given.get(key, {}), KEYS[key]) for key in KEYS}
    training, shape = parts["training"], _shape(name, parts["model"])
    batch = _batch(name, training)
    job = Job(
        name=name,
        shape=shape,
        sequence=training["sequence"],
        batch=batch,
        precision=training["precision"],
        optimizer=training["optimizer"],
        layout=Layout(**parts["layout"]),
        cluster=_cluster(name, parts["cluster"], _format(training)),
        goal=Goal(**parts["goal"]),
    )
    _sensible(name, job)
    return job


def _decoded(raw, name):
    kind = "JSON" if name.lower().endswith(".json") else "TOML"
    text = files.decoded(name, raw, MOST_BYTES) if isinstance(raw, bytes) else raw
    try:
        return json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except RecursionError:
        why, remedy = "brackets in brackets without end", "tables one level deep are enough"
    except ValueError as error:
        why, remedy = (
            f"a fault ({' '.join(str(error).split())[:120]})",
            "see scalelab plan --example",
        )
    raise Refusal(f"{name} must be {kind}, got {why}: {remedy}")


def _shape(name, given):
    expected = given.pop("parameters")
    try:
        shape = Transformer(**given)
    except Refusal as error:
        raise Refusal(f"{name}: model: {error}") from None
    counted = transformer.parameters(shape)
    if expected is not None and not 0.9 <= counted / expected <= 1.1:
        raise Refusal(
            f"{name}: model.parameters must agree with the shape, which makes {counted:.3g}, "
            f"got {expected:.3g}: check layers, hidden, feedforward, gated, tied and vocabulary"
        )
    return shape


def _batch(name, training):
    sequences, tokens = training["batch"], training["batch_tokens"]
    if (sequences is None) == (tokens is None):
        raise Refusal(
            f"{name}: training.batch must be given, or else training.batch_tokens, "
            f"got {'neither' if sequences is None else 'both'}: "
            "it is the sequences, or the tokens, of one step on all devices"
        )
    return sequences or max(1, round(tokens / training["sequence"]))


def _format(training):
    usual = {"fp32": "fp32"}.get(training["precision"], "bf16 tensor")
    return training["format"] or usual


def _cluster(name, given, dtype):
    node = hardware.node(given["node"]) if given["node"] else None
    device = hardware.device(given["device"]) if given["device"] else getattr(node, "device", None)
    if device and given["peak"] is None and dtype not in device.peaks:
        raise Refusal(
            f"{name}: training.format must be one that {device.name} has, got {dtype!r}: "
            f"there are {', '.join(device.peaks)}; or give cluster.peak"
        )
    known: dict[str, Any] = {
        "peak": device and device.peaks.get(dtype),
        "memory": device and device.memory,
        "bandwidth": device and device.bandwidth,
        "power": device and device.power,
        "per_node": node and node.count,
        "inside": (node and node.inside.bandwidth)
        or (device and device.link and device.link.bandwidth),
        "outside": node and node.outside_bandwidth / node.count,
    }
    settled = {key: given[key] if given[key] is not None else known[key] for key in known}
    for key in ("peak", "memory", "bandwidth", "per_node", "inside", "outside"):
        if settled[key] is None:
            raise Refusal(
                f"{name}: cluster.{key} must be given, got nothing: {KEYS['cluster'][key].meaning}; "
                "cluster.node = 'DGX H100' would bring it along"
            )
    rest, work = given["idle_power"], settled["power"]
    if rest is not None and work is not None and rest > work:
        raise Refusal(
            f"{name}: cluster.idle_power must be at most the power at work, {work:g} W, "
            f"got {rest:g} W: computing draws power too"
        )
    ways: dict[str, Any] = {
        way: Network(given[f"{way}_latency"], 1 / (settled.pop(way) * given["link_share"]))
        for way in ("inside", "outside")
    }
    same = ("largest", "idle_power", "pue", "price", "usable_memory", "kernel_share", "checkpoint")
    return Cluster(
        device=device.name if device else "your device",
        **settled,
        **ways,
        **{key: given[key] for key in (*same, "restart", "sizes")},
        failures=given["mean_time_between_failures"],
    )


def _sensible(name, job):
    """Refuse what contradicts itself."""
    layout, goal = job.layout, job.goal
    if layout.tensor and job.shape.heads % layout.tensor:
        raise Refusal(
            f"{name}: layout.tensor must divide the {job.shape.heads} heads, got {layout.tensor}: "
            "every device takes whole heads"
        )
    if layout.pipeline and (
        layout.pipeline > job.shape.layers
        or layout.chunks > -(-job.shape.layers // layout.pipeline)
    ):
        raise Refusal(
            f"{name}: layout.pipeline must leave a layer for each stage and chunk, "
            f"got {layout.pipeline} x {layout.chunks} for {job.shape.layers} layers: use fewer"
        )
    if layout.chunks > 1 and layout.pipeline is None:
        raise Refusal(
            f"{name}: layout.pipeline must be given with layout.chunks, got nothing: "
            "chunks interleave the stages of a pipeline"
        )
    for key in ("deadline", "budget"):
        if getattr(goal, key) is not None and goal.tokens is None:
            raise Refusal(
                f"{name}: goal.tokens must be given with goal.{key}, got nothing: "
                "without an end there is no time and no bill"
            )
    if goal.budget is not None and job.cluster.price is None:
        raise Refusal(
            f"{name}: cluster.price must be given with goal.budget, got nothing: "
            "it is dollars for one device and hour"
        )
    sizes = job.cluster.sizes
    if sizes and sizes[-1] > job.cluster.largest:
        raise Refusal(
            f"{name}: cluster.sizes must be at most cluster.largest, {job.cluster.largest}, "
            f"got {sizes[-1]}: raise largest, or drop it"
        )
