"""What the capstone trains: a small classifier, data-parallel, on data that every rank can draw.

A sample is many looks at one thing, and every look goes through the same weights: a weight works for each
look and is exchanged once a step, which is what lets a second worker gain.

However many ranks share a step, it is the step that one of them would take. All randomness comes from
seeds and none from a clock. Torch inside functions.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

LOOKS, FEATURES, CLASSES, HELD_OUT = 32, 32, 10, 4096
BATCH, RATE, MOMENTUM = 256, 0.05, 0.9  # the learning rate of that batch; of others in proportion
PART = 32  # samples computed at once: so few that no share fits a cache that another leaves
_PROTOTYPES, _NOISE = 40, 1.2


@functools.lru_cache(4)  # every pass of a process reads the same samples and changes none
def drawn(count: int, stream: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and labels: noisy looks at forty points, four to a class; `stream` 0 is held out."""
    import torch

    points = torch.randn(_PROTOTYPES, FEATURES, generator=_seeded(1))
    random = _seeded(2 + stream)
    which = torch.randint(_PROTOTYPES, (count,), generator=random)
    noise = torch.randn(count, LOOKS, FEATURES, generator=random)
    looks = points[which][:, None] + _NOISE * noise
    return looks / math.hypot(1, _NOISE), which % CLASSES


class Classifier:
    """Its part in the training of a network `width` wide, on one rank or alone.

    `share_of` workers: take the first one's share of every step, and exchange nothing.
    """

    def __init__(self, width: int, seed: int, share_of: int = 0) -> None:
        import torch
        from torch import distributed, nn

        group = distributed.is_initialized()
        self.rank = distributed.get_rank() if group else 0
        self.count = share_of or (distributed.get_world_size() if group else 1)
        self.exchanges = self.count > 1 and not share_of  # one worker pays for none
        self.place = _place() if group else torch.device("cpu")
        self.waits: list[float] = []  # of each exchange, seconds
        torch.manual_seed(seed)
        parts, inputs = list[nn.Module](), FEATURES
        for outputs in (width, width, width):
            parts += [nn.Linear(inputs, outputs), nn.ReLU()]
            inputs = outputs
        self.model = nn.Sequential(*parts, nn.Linear(inputs, CLASSES))
        for layer in self.model:
            if isinstance(layer, nn.Linear):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                nn.init.zeros_(layer.bias)
        self.model.to(self.place)
        self.optimizer = torch.optim.SGD(self.model.parameters(), momentum=MOMENTUM)

    def train(self, *given: Any, **told: Any) -> None:
        """Take all `steps` of a training."""
        for _ in self.steps(*given, **told):
            pass

    def steps(
        self,
        inputs: torch.Tensor,
        labels: torch.Tensor,
        batch: int,
        peak: float,
        epochs: int,
        seed: int,
        warmup: float = 0.0,
        most: int | None = None,
    ) -> Iterator[None]:
        """Step through the data in an order that the seed decides; the rate falls from its peak to zero.

        For the first share `warmup` of the steps it rises instead. `most` ends early.
        """
        import torch

        steps, step, order = len(inputs) // batch * epochs, 0, _seeded(seed)
        inputs, labels = inputs.to(self.place), labels.to(self.place)
        for _ in range(epochs):
            for chosen in torch.randperm(len(inputs), generator=order).split(batch):
                if len(chosen) < batch or step == most:
                    break
                self.optimizer.param_groups[0]["lr"] = peak * schedule(step, steps, warmup)
                self.gradient(inputs, labels, self.own(chosen))
                self.optimizer.step()
                step += 1
                yield

    def own(self, chosen: torch.Tensor) -> torch.Tensor:
        """Return this rank's equal share of a global minibatch."""
        share = len(chosen) // self.count
        return chosen[self.rank * share : (self.rank + 1) * share]

    def gradient(self, inputs: torch.Tensor, labels: torch.Tensor, chosen: torch.Tensor) -> None:
        """Leave in every parameter the gradient of the global minibatch, averaged over the ranks.

        It is added up over parts of a few samples, as gradient accumulation does.
        """
        from torch.nn import functional

        self.optimizer.zero_grad()
        for part in chosen.split(PART):
            scores = self.scores(inputs[part])
            loss = functional.cross_entropy(scores, labels[part], reduction="sum")
            (loss / len(chosen)).backward()
        if self.exchanges:
            self._exchange()

    def _exchange(self):
        import torch
        from torch import cuda, distributed

        # Of every parameter: the model has none that its loss does not reach.
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        flat = torch.cat([g.flatten() for g in gradients])
        if self.place.type == "cuda":
            cuda.synchronize()
        start = time.perf_counter()
        distributed.all_reduce(flat)
        if self.place.type == "cuda":
            cuda.synchronize()
        self.waits.append(time.perf_counter() - start)
        flat /= self.count
        torch.nn.utils.vector_to_parameters(flat, gradients)

    def scores(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return what speaks for each class: the mean over the looks at a sample."""
        return self.model(inputs).mean(1)

    def names(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the class that it finds in each sample."""
        import torch

        with torch.inference_mode():
            found = [self.scores(part.to(self.place)).argmax(1) for part in inputs.split(PART)]
            return torch.cat(found).cpu()

    def accuracy(self, inputs: torch.Tensor, labels: torch.Tensor) -> float:
        """The share of these that it names right."""
        return float((self.names(inputs) == labels).double().mean())


def schedule(step: int, steps: int, warmup: float) -> float:
    """The share of the learning rate at a step: up in a line, where there is a warm-up, and down.

    >>> [round(schedule(step, 4, 0.5), 2) for step in range(4)], schedule(0, 4, 0.0)
    ([0.5, 1.0, 1.0, 0.5], 1.0)
    """
    rising = round(warmup * steps)
    if step < rising:
        return (step + 1) / rising
    return (steps - step) / (steps - rising)


def _place() -> torch.device:
    from scalelab.measure.ranks import workers

    return workers.place()


def _seeded(seed: int) -> torch.Generator:
    import torch

    return torch.Generator().manual_seed(seed)
