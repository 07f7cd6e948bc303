"""Queues and batches event by event: what the formulas of section 3.4 are held against.

Nothing here knows a formula. Requests come in order of their arrival and are served in that order;
a heap holds the times at which the servers are free again.
"""

import heapq

import numpy as np


def poisson(rng, rate, count):
    """Arrival times of a Poisson stream."""
    return np.cumsum(rng.exponential(1 / rate, count))


def waiting(arrivals, service, servers=1):
    """How long each request waits for the first of the servers that is free."""
    free = [0.0] * servers
    waited = []
    for arrival, seconds in zip(arrivals.tolist(), service.tolist(), strict=True):
        start = max(arrival, heapq.heappop(free))
        heapq.heappush(free, start + seconds)
        waited.append(start - arrival)
    return np.array(waited)


def tied(arrivals, service):
    """Waiting times of requests that queue at two servers until one of them starts.

    Each server has its own queue; a copy whose twin has started is dropped when its turn comes.
    """
    queues, free, waited = ([], []), [0.0, 0.0], {}
    requests = list(enumerate(zip(arrivals.tolist(), service.tolist(), strict=True)))
    for queue in queues:
        queue.extend(reversed(requests))
    while queues[0] or queues[1]:
        for queue in queues:
            while queue and queue[-1][0] in waited:
                queue.pop()
        # Each server would start the head of its own queue: the earlier start happens.
        starts = [(max(free[i], queue[-1][1][0]), i) for i, queue in enumerate(queues) if queue]
        if starts:
            start, i = min(starts)
            request, (arrival, seconds) = queues[i].pop()
            waited[request] = start - arrival
            free[i] = start + seconds
    return np.array([waited[request] for request, _ in requests])


def batches(arrivals, seconds, ready):
    """Response times on one server that serves batches in `seconds(size)`.

    `ready(first, now)` is how many requests the server takes, given the index of the first that
    waits and the time: it is asked when the server is free and at every arrival until it says so.
    """
    responses, first, free = [], 0, 0.0
    while first < len(arrivals):
        now = max(free, arrivals[first])
        last = first
        while not (size := ready(first, now)):
            last += 1
            if last >= len(arrivals):
                return np.array(responses)
            now = max(now, arrivals[last])
        free = now + seconds(size)
        responses.extend(free - arrivals[first : first + size])
        first += size
    return np.array(responses)


def full(arrivals, seconds, batch):
    """Response times when the server waits for full batches."""

    def ready(first, now):
        present = np.searchsorted(arrivals, now, side="right") - first
        return batch if present >= batch else 0

    return batches(arrivals, seconds, ready)


def greedy(arrivals, seconds):
    """Response times when the server takes all that wait."""
    return batches(
        arrivals,
        seconds,
        lambda first, now: int(np.searchsorted(arrivals, now, side="right")) - first,
    )


def timeout(arrivals, seconds, limit, patience):
    """Waiting, response and size of batch of each request, if a server is free for every batch."""
    waited, responses, sizes, first = [], [], [], 0
    while first < len(arrivals):
        due = arrivals[first] + patience
        size = min(limit, int(np.searchsorted(arrivals, due, side="right")) - first)
        group = arrivals[first : first + size]
        go = group[-1] if size == limit else due
        waited.extend(go - group)
        responses.extend(go + seconds(size) - group)
        sizes.extend([size] * size)
        first += size
    return np.array(waited), np.array(responses), np.array(sizes)
