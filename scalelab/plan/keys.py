"""Every key of a plan file: what it may hold, what it means, and what is assumed where it is absent."""

from scalelab.models.machines import hardware, memory
from scalelab.plan.fields import REQUIRED, Field

LARGEST = 2**20  # devices
# What a message costs before its first byte: a step of NCCL's ring, Simple protocol, src/graph/tuning.cc.
INSIDE_LATENCY, OUTSIDE_LATENCY = 3.4e-6, 14e-6
# What a collective gets out of a link: 365 of 450 GB/s, the ring of `nccl_allreduce_H200_8GiB_vs_gpus_ring`.
LINK_SHARE = 0.81
RECOMPUTE = ("none", "selective", "full")

KEYS = {
    "model": {
        "layers": Field("whole", "it counts the blocks of the transformer", REQUIRED, 1, 1e4),
        "hidden": Field("whole", "it is the width of a token", REQUIRED, 1, 1e6),
        "heads": Field("whole", "it counts the query heads of a layer", REQUIRED, 1, 1e5),
        "vocabulary": Field("whole", "it counts the tokens there are", REQUIRED, 1, 1e8),
        "feedforward": Field("whole", "it is the inner width, 4 hidden if absent", None, 1, 1e7),
        "kv_heads": Field("whole", "it counts the key-value heads, heads if absent", None, 1, 1e5),
        "gated": Field("flag", "it is true for SwiGLU and its kin", False),
        "tied": Field("flag", "it is true if the embedding is the output matrix too", True),
        "parameters": Field("count", "it is checked against the shape", None, 0, 1e15, True),
    },
    "training": {
        "sequence": Field("whole", "it counts the tokens of a sequence", REQUIRED, 1, 1e8),
        "batch": Field("whole", "it counts the sequences of a step, on all devices", None, 1, 1e8),
        "batch_tokens": Field("count", "it counts the tokens of a step", None, 1, 1e15),
        "precision": Field("text", "it is a precision", "mixed", names=tuple(memory.PRECISIONS)),
        "optimizer": Field("text", "it is an optimizer", "adam", names=tuple(memory.OPTIMIZERS)),
        "format": Field("text", "it is the number format of the products, as in the catalogue"),
    },
    "layout": {
        "tensor": Field("whole", "it splits every layer over so many devices", None, 1, 1024),
        "pipeline": Field("whole", "it cuts the layers into so many stages", None, 1, 4096),
        "chunks": Field("whole", "it counts the pieces a stage holds", 1, 1, 1024),
        "micro_batch": Field("whole", "it counts the sequences at once", None, 1, 1e5),
        "sharding": Field("whole", "it is the ZeRO stage; 3 is FSDP", 1, 0, 3),
        "recompute": Field("text", "it says what is computed again", None, names=RECOMPUTE),
        "fused_attention": Field("flag", "it is true if no score matrix is stored", True),
        "overlap": Field("share", "it is the share of the exchange that can hide", 0.9, 0, 1),
        "compression": Field("number", "it is bytes of gradient per byte sent", 1.0, 1, 1e4),
        "hierarchy": Field("flag", "it is true if a node adds up before it sends", True),
    },
    "cluster": {
        "node": Field("text", "it is a node of the catalogue", names=hardware.names("nodes")),
        "device": Field("text", "it is a device of the catalogue", names=hardware.names()),
        "peak": Field("FLOP/s", "it is the dense peak in the format used", None, 1, 1e21),
        "memory": Field("B", "it is the memory of one device", None, 1e6, 1e15),
        "bandwidth": Field("B/s", "it is that of a device's memory", None, 1e6, 1e18),
        "power": Field("W", "it is what one device draws at work", None, 0, 1e6, True),
        "idle_power": Field("W", "it is what it draws while it waits", None, 0, 1e6),
        "pue": Field("number", "it is the power of the building over the devices'", 1.0, 1, 10),
        "per_node": Field("whole", "it counts the devices of a node", None, 1, 1024),
        "inside": Field("B/s", "it is one device's link in a node, one direction", None, 1, 1e15),
        "outside": Field("B/s", "it is one device's share of the cards", None, 1, 1e15),
        "inside_latency": Field("s", "it is a message's first byte", INSIDE_LATENCY, 0, 1),
        "outside_latency": Field("s", "it is a message's first byte", OUTSIDE_LATENCY, 0, 1),
        "link_share": Field(
            "share", "it is what a collective gets of a link", LINK_SHARE, 0, 1, True
        ),
        "largest": Field("whole", "it counts the devices you could get", REQUIRED, 1, LARGEST),
        "sizes": Field("sizes", "they are the device counts to compare"),
        "price": Field("number", "it is dollars for one device and hour", None, 0, 1e6),
        "usable_memory": Field("share", "it is what the model may fill", 0.9, 0, 1, True),
        "kernel_share": Field("share", "it is what kernels reach of the peak", None, 0, 1, True),
        "mean_time_between_failures": Field("s", "it is that of one device", None, 1, 1e15),
        "checkpoint": Field("s", "it is the time to write a checkpoint", 60.0, 0, 1e6, True),
        "restart": Field("s", "it is the time to come back", 600.0, 0, 1e7),
    },
    "goal": {
        "tokens": Field("count", "it counts the tokens to train on", None, 1, 1e18),
        "deadline": Field("s", "it is the time you have", None, 0, 1e12, True),
        "budget": Field("number", "it is the money you have, in dollars", None, 0, 1e15, True),
        "efficiency": Field("share", "it is the least share of useful time", None, 0, 1),
        "aim": Field("text", "it is what to prefer", names=("cheapest", "fastest")),
    },
}
