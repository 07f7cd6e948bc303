"""Which programs may teach what a prediction is made of, and which only judge it.

A digest of the name decides, so that nobody chose; it was fixed before anything was tried on the
programs. Those whose hold-outs had been looked at before can judge nothing and teach.
"""

import hashlib

SEEN = (
    *("usl_raytracer", "usl_specsdm91", "sysbench_cpu", "mfc_frontier", "tf2017_dgx1", "nv_gnmt"),
    *("nv_bert_tf2", "deepspeed", "mpt_a100_40", "megatron2020", "megatron2021", "megatron_core"),
    *("mlperf1.0_nvidia",),
)


def judges(program: str) -> bool:
    """Whether hold-outs of this program are looked at once, at the end, and by nobody before."""
    digest = hashlib.sha256(program.encode()).hexdigest()
    return program not in SEEN and int(digest, 16) % 2 == 1
