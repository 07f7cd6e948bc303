r"""Take part in a torchrun that someone else started: the same job, on as many nodes as it spans.

    torchrun --nproc-per-node 8 -m scalelab run training --workers 1,2,4,8 --out sweep.json

and under Slurm, one torchrun on each of four nodes:

    #SBATCH --nodes=4 --ntasks-per-node=1 --gpus-per-node=8
    head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    srun torchrun --nnodes "$SLURM_NNODES" --nproc-per-node 8 --rdzv-id "$SLURM_JOB_ID" \
      --rdzv-backend c10d --rdzv-endpoint "$head:29500" \
      -m scalelab run training --device cuda --workers 1,8,16,32 --out sweep.json

The first K ranks work, so K fills one node after the other. Torch inside functions.
"""

import faulthandler
import functools
import itertools
import os
import pickle
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from scalelab.measure.ranks import aside
from scalelab.measure.ranks.agent import Failed
from scalelab.refusal import Refusal

_Said = TypeVar("_Said")
_GRACE = 30.0
_turns = itertools.count()  # one per meeting, the same on every rank: all run the same program


def inside() -> bool:
    """Whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ and "RANK" in os.environ


def sizes() -> tuple[int, int]:
    """Return how many ranks torchrun started on this node, and in all."""
    return int(os.environ["LOCAL_WORLD_SIZE"]), int(os.environ["WORLD_SIZE"])


def rank() -> int:
    """Return this process's rank, 0 outside of torchrun: rank 0 speaks for all."""
    return int(os.environ["RANK"]) if inside() else 0


def everyones(value: _Said, limit: float = 120.0) -> list[_Said]:
    """Return what each rank says, in rank order: all must call this alike."""
    store = _meeting(limit)
    store.set(str(rank()), pickle.dumps(value))
    return [pickle.loads(store.get(str(other))) for other in range(sizes()[1])]


def run(
    entry: Callable[..., object], arguments: tuple[object, ...], workers: int, limit: float
) -> dict[int, Any]:
    """Run `entry` on the first ranks; return {rank: result} on every rank, or raise Failed.

    A rank that fails ends with an error, and then its torchrun stops all the others.
    """
    from torch import distributed

    own = rank()
    # Whoever waits gives up at the limit; a rank that hangs by itself is ended a little later.
    faulthandler.dump_traceback_later(limit + _GRACE, exit=True)
    try:
        store = _meeting(limit)
        if own < workers:
            group = distributed.PrefixStore("group", store)
            with aside.stdout():
                result = entry(None, *arguments, store=group, rank=own, world_size=workers)
            store.set(str(own), pickle.dumps(result))
        return {other: pickle.loads(store.get(str(other))) for other in range(workers)}
    except distributed.DistStoreError:
        raise Failed("no end within the time limit", late=True) from None
    except Exception as error:
        kind = "" if isinstance(error, Refusal) else f"{type(error).__name__}: "
        cause = " ".join(f"{kind}{error}".split())[:200]
        raise Failed(f"{cause} on rank {own}") from None
    finally:
        faulthandler.cancel_dump_traceback_later()


def _meeting(limit):
    """Return a fresh part of torchrun's store, the same on every rank."""
    from torch import distributed

    _store().set_timeout(timedelta(seconds=limit))
    return distributed.PrefixStore(f"scalelab/{next(_turns)}", _store())


@functools.cache
def _store():
    from torch import distributed

    store, *_ = next(distributed.rendezvous("env://"))
    return store
