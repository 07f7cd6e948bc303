"""What `jobs.training_epoch` trains: a small network on a synthetic regression, data-parallel.

However many ranks share a step, it is the step that one of them would take: they hold equal shards
of the same minibatch and average their gradients. Torch inside functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_FEATURES = 64


class Training:
    """Its part in the training of a network `width` wide, on one rank; or all of it, if not `shared`."""

    def __init__(
        self,
        steps: int,
        batch: int,
        width: int,
        seed: int,
        place: torch.device,
        shared: bool = True,
    ) -> None:
        from torch import distributed

        self.width, self.seed, self.place = width, seed, place
        self.alone = not shared or distributed.get_world_size() == 1
        shards = (_shards if shared else minibatches)(steps, batch, seed)
        self.shards = [(x.to(place), y.to(place)) for x, y in shards]
        self.model, self.optimizer = self._fresh()

    def epoch(self, steps: int | None = None, exchange: bool = True) -> torch.Tensor:
        """Train from the same first weights on every step's shard; return the last weights.

        Without the exchange each rank goes its own way, and does everything else as before.
        """
        from torch.nn.utils import parameters_to_vector

        self.model, self.optimizer = self._fresh()
        for x, y in self.shards[:steps]:
            self._backward(x, y)
            if exchange:
                self.exchange()
            self.optimizer.step()
        return parameters_to_vector(self.model.parameters()).detach()

    def compute(self) -> None:
        """Do what one step computes, without the exchange."""
        self._backward(*self.shards[0])
        self.optimizer.step()

    def exchange(self) -> None:
        """Replace every gradient by its mean over the ranks, in one all-reduce."""
        import torch
        from torch import distributed

        if self.alone:  # one worker pays for no exchange: T(1) must be its honest best
            return
        gradients = [p.grad for p in self.model.parameters()]
        flat = torch.cat([g.flatten() for g in gradients])
        distributed.all_reduce(flat)
        flat /= distributed.get_world_size()
        torch.nn.utils.vector_to_parameters(flat, gradients)

    def _backward(self, x, y):
        from torch.nn import functional

        self.optimizer.zero_grad()
        functional.mse_loss(self.model(x), y).backward()

    def _fresh(self):
        import torch
        from torch import nn

        torch.manual_seed(self.seed)
        model = nn.Sequential(
            nn.Linear(_FEATURES, self.width), nn.ReLU(),
            nn.Linear(self.width, self.width), nn.ReLU(),
            nn.Linear(self.width, 1),
        ).to(self.place)  # fmt: skip
        return model, torch.optim.SGD(model.parameters(), lr=0.05)


def _shards(steps, batch, seed):
    """Yield this rank's share of the inputs and noisy targets of every step.

    Every rank draws all of a step, so that the data do not depend on how many share it.
    """
    from torch import distributed

    rank, count = distributed.get_rank(), distributed.get_world_size()
    mine = slice(rank * batch // count, (rank + 1) * batch // count)
    for x, y in minibatches(steps, batch, seed):
        yield x[mine].clone(), y[mine].clone()


def minibatches(steps: int, batch: int, seed: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield the inputs and noisy targets of every global step."""
    import torch

    random = torch.Generator().manual_seed(seed)
    slope = torch.randn(_FEATURES, 1, generator=random) / _FEATURES**0.5
    for _ in range(steps):
        inputs = torch.randn(batch, _FEATURES, generator=random)
        noise = torch.randn(batch, 1, generator=random)
        yield inputs, torch.tanh(inputs @ slope) + 0.1 * noise
