"""What the checks of a model cost on a million points, against the bare NumPy expression."""

import numpy as np

from scalelab.models.cost import cost, energy, mfu, step
from scalelab.models.kernels import kernels, roofline
from scalelab.models.machines import failures, memory
from scalelab.models.network import collectives, network
from scalelab.models.scaling import laws, speedup, study
from scalelab.models.waiting import mg1
from tests.bench import side_by_side

K = np.linspace(1.5, 1e4, 10**6)
F = np.linspace(1e-3, 1, 10**6)
WHOLE = np.arange(2.0, 10**6 + 2)
COUNTS = 2.0 ** (np.arange(10**6) % 20)
LINK = network.Network(alpha=5e-6, beta=1e-10)
STEP = step.Step(
    microbatch=2**20,
    worker_throughput=100.0,
    gradient=1e9,
    all_reduce=lambda size, k: size * 1e-10 + 0 * k,
)


def bare_knee():
    """Keep the worker counts before the first inefficient one."""
    first = K[F[::-1] < 0.5].min()
    return K[first > K].max()


def bare_step():
    """The four terms of a step: compute, exposed communication, bubble, stragglers."""
    compute = 2**20 / COUNTS / 100.0
    exchange = np.where(COUNTS > 1, 1e9 * 1e-10 + 0 * np.ceil(COUNTS / 1), 0)
    exposed = np.maximum(exchange, exchange - compute * 2 / 3)
    return compute + exposed + compute * 0 / 1 + compute * np.maximum(np.ones_like(COUNTS) - 1, 0)


PAIRS = {
    "speedup.speedup": (lambda: speedup.speedup(1.0, K), lambda: 1.0 / K),
    "speedup.efficiency": (lambda: speedup.efficiency(1.0, K, K), lambda: 1.0 / K / K),
    "speedup.fixed_job_seconds": (
        lambda: speedup.fixed_job_seconds(K, 0.05),
        lambda: 0.95 / K + 0.05,
    ),
    "speedup.ceiling": (lambda: speedup.ceiling(F), lambda: 1 / F),
    "speedup.karp_flatt": (
        lambda: speedup.karp_flatt(K, K),
        lambda: (1 / K - 1 / K) / (1 - 1 / K),
    ),
    "speedup.largest_serial": (
        lambda: speedup.largest_serial(K, 0.8),
        lambda: np.fmin((1 / 0.8 - 1) / (K - 1), 1),
    ),
    "speedup.first_below": (lambda: speedup.first_below(K, F, 0.5), lambda: K[F < 0.5].min()),
    "speedup.knee": (lambda: speedup.knee(K, F[::-1], 0.5), bare_knee),
    "laws.amdahl": (lambda: laws.amdahl(K, 0.05), lambda: 1 / (0.05 + 0.95 / K)),
    "laws.gustafson": (lambda: laws.gustafson(K, 0.05), lambda: K - 0.05 * (K - 1)),
    "laws.usl": (
        lambda: laws.usl(K, 0.02, 1e-5),
        lambda: K / (1 + 0.02 * (K - 1) + 1e-5 * K * (K - 1)),
    ),
    "study.weak_efficiency": (lambda: study.weak_efficiency(1.0, K), lambda: 1.0 / K),
    "mg1.response": (
        lambda: mg1.response(0.9 * F, 1.0, 1.0),
        lambda: 1 + (0.9 * F * 2) / (2 * (1 - 0.9 * F)),
    ),
    "memory.training_bytes": (lambda: memory.training_bytes(K, 8), lambda: 16.0 * K),
    "failures.young_interval": (
        lambda: failures.young_interval(60.0, K),
        lambda: np.sqrt(2 * 60.0 * K),
    ),
    "roofline.attainable": (
        lambda: roofline.attainable(K, 1e15, 3e12),
        lambda: np.minimum(1e15, K * 3e12),
    ),
    "kernels.gemm": (
        lambda: kernels.gemm(WHOLE, 4096, 4096, 2),
        lambda: (2 * WHOLE * 4096 * 4096, 2 * (WHOLE * 4096 + 4096 * 4096 + WHOLE * 4096)),
    ),
    "network.message_seconds": (
        lambda: network.message_seconds(K, LINK),
        lambda: 5e-6 + 1e-10 * K,
    ),
    "collectives.all_reduce": (
        lambda: collectives.all_reduce(1e9, WHOLE, LINK),
        lambda: 2 * (WHOLE - 1) * 5e-6 + 2 * (WHOLE - 1) / WHOLE * 1e9 * 1e-10,
    ),
    "step.seconds": (
        lambda: step.seconds(STEP, COUNTS),
        bare_step,
    ),
    "mfu.mfu": (lambda: mfu.mfu(F, 1e12, 8, 1e15), lambda: F * 1e12 / 8 / 1e15),
    "cost.dollars": (lambda: cost.dollars(K, 2.0), lambda: K / 3600 * 2.0),
    "energy.joules": (lambda: energy.joules(K, 700.0, 8), lambda: K * 700.0 * 8),
}


def rows():
    """Yield a function of every family, those with the least arithmetic to hide the checks behind."""
    for name, (ours, bare) in PAIRS.items():
        yield side_by_side(f"{name}, 1e6 points / NumPy", ours, bare, 3.0)
