"""What a plan is made from, as records: a layout, a cluster and a goal around the shape of a model."""

from dataclasses import dataclass

from scalelab.models.kernels import transformer
from scalelab.models.kernels.transformer import Transformer
from scalelab.models.network.network import Network


@dataclass(frozen=True)
class Cluster:
    """One device, its links, and what is known of the whole."""

    device: str
    peak: float  # dense FLOP/s
    memory: float  # bytes
    bandwidth: float  # of that memory
    per_node: int
    inside: Network
    outside: Network  # one device's share of it
    largest: int
    power: float | None = None
    idle_power: float | None = None
    pue: float = 1.0
    price: float | None = None  # dollars per device and hour
    usable_memory: float = 0.9
    kernel_share: float | None = None
    failures: float | None = None  # mean seconds between those of one device
    checkpoint: float = 60.0
    restart: float = 600.0
    sizes: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Layout:
    """How a model lies on the devices; what is None, the plan chooses."""

    tensor: int | None = None
    pipeline: int | None = None
    chunks: int = 1
    micro_batch: int | None = None
    sharding: int = 1
    recompute: str | None = None
    fused_attention: bool = True
    overlap: float = 0.9
    compression: float = 1.0
    hierarchy: bool = True

    @property
    def split(self) -> int:
        """Devices that share one copy of the model."""
        return (self.tensor or 1) * (self.pipeline or 1)


@dataclass(frozen=True)
class Goal:
    """What is wanted, as far as it was said."""

    tokens: float | None = None
    deadline: float | None = None
    budget: float | None = None
    efficiency: float | None = None
    aim: str | None = None


@dataclass(frozen=True)
class Job:
    """Everything a plan is made from."""

    name: str
    shape: Transformer
    sequence: int
    batch: int  # sequences of a step
    precision: str
    optimizer: str
    layout: Layout
    cluster: Cluster
    goal: Goal

    @property
    def parameters(self) -> float:
        """The weights in the model's matrices."""
        return transformer.parameters(self.shape)
