"""What the services of `test_serve` and `test_load` do with a request."""

import time


def sleeper(seconds=0.0):
    return lambda: time.sleep(seconds)


def broken():
    raise ValueError("no weights")


def failing():
    """Answer while warming up, and never again."""
    calls = []

    def answer():
        calls.append(None)
        if len(calls) > 5:
            raise RuntimeError("out of memory")

    return answer


def slow_to_load():
    time.sleep(60)


def counts_threads():
    """Take 10 s for an answer if PyTorch has more than one thread."""
    import torch

    many = torch.get_num_threads() > 1
    calls = []

    def answer():
        calls.append(None)
        if many and len(calls) > 5:
            time.sleep(10)

    return answer
