"""How much of a cluster's arithmetic a training run uses: MFU, HFU and back (Section 3.9).

The model's FLOPs are those that the mathematics asks for, once, whatever the program repeats; the
hardware's are those it ran. Count them with `transformer` or `conventions`, and say which.
"""

from scalelab.models.checking import Answer, Numbers, answer, numbers

_THROUGHPUT = "it is the samples, or tokens, per second of all workers together"
_FLOPS = "it counts the FLOPs that the model asks for per sample, or token, forward and backward"
_WORKERS = "it counts the workers, idle stages of a pipeline included"
_PEAK = "it is the peak of one worker in FLOP/s, dense, for the number format in use"
_MFU = "it is a share of the peak, as a fraction"


def mfu(throughput: Numbers, flops: Numbers, workers: Numbers, peak: Numbers) -> Answer:
    """Model FLOPs utilization: throughput x FLOPs / (K x peak).

    It compares systems that solve the same problem, because no trick of the program counts as work.
    Source: Chowdhery et al. 2022, arXiv:2204.02311, appendix B. Section 3.9.

    >>> from scalelab.models.kernels import conventions
    >>> token = conventions.palm(540.35e9, 1, layers=118, heads=48, head_size=256, context=2048)
    >>> round(mfu(238.3e3, token, 6144, 275e12), 3)  # PaLM, reported as 46.2%
    0.462
    """
    throughput = numbers("throughput", throughput, _THROUGHPUT, 0)
    flops = numbers("flops", flops, _FLOPS, 0, above=True)
    workers = numbers("workers", workers, _WORKERS, 1)
    peak = numbers("peak", peak, _PEAK, 0, above=True)
    return answer(lambda x, f, k, p: x / k * (f / p), throughput, flops, workers, peak)


def hfu(mfu: Numbers, flops: Numbers, executed: Numbers) -> Answer:
    """Hardware FLOPs utilization: MFU x FLOPs executed / FLOPs of the model.

    Activations computed again make the hardware look busier than the model advances: by up to a
    third, when the whole forward pass is repeated. Without recomputation the two are equal.
    Source: Korthikanti et al. 2022, arXiv:2205.05198. Section 3.9.

    >>> from scalelab.models.kernels import conventions
    >>> gpt3 = dict(sequences=64, context=2048, layers=96, hidden=12288, vocabulary=51200)
    >>> model, executed = (conventions.megatron(**gpt3, recompute=r) for r in ("none", "full"))
    >>> round(hfu(0.36, model, executed), 2)
    0.48
    """
    mfu = numbers("mfu", mfu, _MFU, 0)
    flops = numbers("flops", flops, _FLOPS, 0, above=True)
    meaning = (
        "it counts the FLOPs that the hardware ran, for as much as the model's are counted for"
    )
    executed = numbers("executed", executed, meaning, 0)
    return answer(lambda u, f, x: u * (x / f), mfu, flops, executed)


def run_seconds(flops: Numbers, workers: Numbers, peak: Numbers, mfu: Numbers) -> Answer:
    """Seconds of a training run from its FLOPs: FLOPs / (K x peak x MFU).

    Given the FLOPs that the hardware runs, the utilization has to be the HFU.
    Source: Narayanan et al. 2021, doi:10.1145/3458817.3476209, section 5.1. Section 3.9.

    >>> from scalelab.models.kernels import conventions
    >>> ran = conventions.kaplan(175e9, 300e9) * 4 / 3  # GPT-3's size, all layers recomputed
    >>> round(run_seconds(ran, 1024, 312e12, 140 / 312) / 86400)  # "34 days" on 1024 A100
    34
    """
    flops = numbers("flops", flops, "it counts the FLOPs of the whole run", 0)
    workers = numbers("workers", workers, _WORKERS, 1)
    peak = numbers("peak", peak, _PEAK, 0, above=True)
    mfu = numbers("mfu", mfu, _MFU, 0, above=True)
    return answer(lambda f, k, p, u: f / k / p / u, flops, workers, peak, mfu)
