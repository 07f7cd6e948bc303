"""Jobs that only the tests run on workers: well-behaved ones, and every way to fail."""

import itertools
import os
import signal
import time
from pathlib import Path


def roll_call(offset=0):
    """Add up the ranks in an all-reduce and tell who was there."""
    import torch
    from torch import distributed

    total = torch.tensor(float(distributed.get_rank() + offset))
    distributed.all_reduce(total)
    return {
        "rank": distributed.get_rank(),
        "total": total.item(),
        "pid": os.getpid(),
        "threads": torch.get_num_threads(),
    }


def chatter():
    """Write where a job should not."""
    print("to stdout")
    os.write(2, b"to stderr")
    return True


def fail(how, folder, rank=1):
    """Fail on one rank while the others wait for it in a collective; leave every pid behind."""
    import torch
    from torch import distributed

    (Path(folder) / str(os.getpid())).touch()
    distributed.barrier()
    if distributed.get_rank() == rank:
        if how == "raise":
            raise ValueError("the disk is full")
        if how == "raise on many lines":
            raise ValueError("first\nsecond " + "x" * 1000)
        if how == "exit":
            os._exit(3)
        if how == "exit as if all were well":
            os._exit(0)
        if how == "sys.exit":
            raise SystemExit(0)
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "hang":
            time.sleep(600)
        if how == "unpicklable result":
            return lambda: None
    distributed.all_reduce(torch.ones(1))
    return None


def command(_, arguments):
    """Run the command line as a rank that torchrun started: exit code, output, errors."""
    from tests.cli.command import scalelab

    done = scalelab(*arguments)
    return done.returncode, done.stdout, done.stderr


def additions(size, called="stream"):
    """Count the numbers that a job asks to be added up on this rank, and add none."""
    import torch

    from scalelab.measure.ranks import jobs

    count = 0

    def counted(tensor):
        nonlocal count
        count += tensor.numel()

    torch.Tensor.sum = counted
    getattr(jobs, called)(size=size, repetitions=1)
    return count


def last_words(dying=1):
    """Write a line on one rank, and end without a result."""
    from torch import distributed

    if distributed.get_rank() == dying:
        os.write(1, b"all is well\n")
        os.write(2, b"the disk is full\n")
        os._exit(3)
    distributed.barrier()


def products(items):
    """Count the products that `independent` computes on this rank, its warm-up included."""
    import torch

    from scalelab.measure.ranks import jobs

    plain, count = torch.mm, 0

    def counted(*arguments, **options):
        nonlocal count
        count += 1
        return plain(*arguments, **options)

    torch.mm = counted
    jobs.independent(items=items, size=2, repetitions=1)
    return count


def pauses(target, arguments):
    """Run a job emulated with a sleep that only counts: how long, how often, and what it sent."""
    from torch import distributed

    from scalelab.measure.ranks import emulate

    slept, sent, plain = [], [], distributed.all_reduce
    emulate.sleeper = lambda: slept.append

    def counted(tensor):
        sent.append(tensor.numel())
        return plain(tensor)

    distributed.all_reduce = counted
    result = target(emulated=True, **arguments)
    return {"slept": slept, "sent": sent, "sleep": result["sleep"], "told": sorted(result)}


def sent_in_parts():
    """Run the epoch in parts; count the steps in which this rank sent its gradients, and return its times."""
    from torch import distributed

    from scalelab.measure.ranks import jobs

    sent, plain = [], distributed.all_reduce

    def counted(tensor):
        sent.append(tensor.numel())
        return plain(tensor)

    distributed.all_reduce = counted
    result = jobs.epoch_in_parts(steps=3, batch=64, width=8, repetitions=2)
    return {"sent": len(sent), "seconds": {name: one["seconds"] for name, one in result.items()}}


def whole_epoch():
    """Train the whole job on this rank, whoever else is there; return the last weights."""
    import torch

    from scalelab.measure.ranks.training import Training

    return Training(3, 64, 8, 0, torch.device("cpu"), shared=False).epoch().numpy()


def calibration():
    """Calibrate with a clock on which rank 0 takes 5 s for each call, and any other rank 7 s."""
    from torch import distributed

    from scalelab.measure.ranks import emulate

    ticks = iter(range(0, 10**6, 5 + 2 * distributed.get_rank()))
    return emulate.calibrated(lambda: None, clock=lambda: next(ticks))


def ticking(collective, sizes, iterations):
    """Time a collective on a clock that is r + 1 seconds further on rank r at every look."""
    from torch import distributed

    from scalelab.measure.messages import collectives

    pace = distributed.get_rank() + 1
    looks = iter(range(10**6))
    return collectives.timed(collective, sizes, iterations, clock=lambda: pace * next(looks))


def disturbed(collective, sizes, iterations):
    """Time a collective while another program slows the first 13 calls, as many as a size may have."""
    from scalelab.measure.messages import collectives

    times = itertools.accumulate(100.0 if look < 26 else 1.0 for look in itertools.count())
    return collectives.timed(collective, sizes, iterations, clock=lambda: next(times))


def all_disturbed(plans, sizes, iterations):
    """Carry out two plans while another program slows the first 13 iterations."""
    from scalelab.measure.messages import carried

    times = itertools.accumulate(100.0 if look < 52 else 1.0 for look in itertools.count())
    return carried.carry(plans, sizes, iterations, clock=lambda: next(times))


def forgetful(collective, sizes, iterations):
    """Time a collective whose message never leaves."""
    from torch import distributed

    from scalelab.measure.messages import collectives

    for name in ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "broadcast"):
        setattr(distributed, name, lambda *tensors: None)
    distributed.send = distributed.recv = lambda tensor, other: None
    return collectives.timed(collective, sizes, iterations)


def own(work=1, folder=None):
    """Be a function of the user's own, and leave a mark for every call."""
    if folder:
        (Path(folder) / f"{os.getpid()} {work} {time.monotonic_ns()}").touch()


def self_timed():
    """Be a function of the user's own that has timed itself."""
    return {"seconds": [3.0, 4.0]}


def at_odds():
    """Time one repetition on rank 0 and two on the others."""
    from torch import distributed

    return {"seconds": [1.0] * (1 + (distributed.get_rank() > 0))}


def raises():
    """Fail on rank 1 while rank 0 waits for it."""
    from torch import distributed

    if distributed.get_rank() == 1:
        raise ValueError("the disk is full")
    distributed.barrier()


def data_parallel(steps=5):
    """Fit a line with PyTorch's own data-parallel wrapper, and time a step."""
    import torch
    from torch import distributed, nn

    from scalelab.measure.ranks import jobs, workers

    place, rank = workers.place(), distributed.get_rank()
    torch.manual_seed(rank)  # the wrapper must give all ranks the weights of rank 0
    devices = [place.index] if place.type == "cuda" else None
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1).to(place), device_ids=devices)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    inputs = torch.randn(64, 8, generator=torch.Generator().manual_seed(rank)).to(place)

    def step():
        loss = nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    losses = [step() for _ in range(steps)]
    seconds, _ = jobs.timed(step, 3)
    weights = [float(w) for p in model.parameters() for w in p.flatten()]
    return {"device": str(place), "losses": losses, "seconds": seconds, "weights": weights}


def seen_under_both_lenses(**arguments):
    """Return the samples of each backward pass on this rank, run by run, in a turn that counts."""
    from torch import distributed

    from scalelab.measure.ranks import jobs, training

    seen, backward = [], training.Training._backward

    def watched(self, x, y):
        seen.append(len(x))
        backward(self, x, y)

    training.Training._backward = watched
    names = jobs.epoch_under_both_lenses(repetitions=1, **arguments)
    runs = iter(seen[len(seen) // 2 :])
    first = distributed.get_rank() == 0
    return {
        name: [next(runs) for _ in range(arguments["steps"]) if first or name != "one worker"]
        for name in names
    }
