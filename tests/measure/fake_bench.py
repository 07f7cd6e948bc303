"""A machine for the probe whose rates, caches and neighbours are what the test says."""

import contextlib

from scalelab.measure.timing import devices

KIB, MIB = 2**10, 2**20


class FakeBench:
    """What `workbench.Workbench` offers, on a clock that only work moves."""

    name, threads, last = "cpu", 2, "DRAM"
    formats, products = ("fp32",), (256, 512, 1024)

    def __init__(self, **changed):
        self.stated = {"L1d": 64 * KIB, "L2": 2 * MIB}
        self.memory = 2**40
        self.now, self.kept, self.busy = 0.0, 0.0, 0.0  # busy: seconds of products so far
        self.device = devices.Processor(lambda: self.now)
        self.asked = []
        vars(self).update(changed)

    def clock(self):
        return self.now

    def waited(self):
        return self.kept

    def rate(self, name, size):
        return 1e9

    def bandwidth(self, kind, size):
        within = [
            b for level, b in (("L1d", 400e9), ("L2", 200e9)) if size <= self.stated_size(level)
        ]
        return max(within, default=50e9)

    def stated_size(self, level):
        return {"L1d": 64 * KIB, "L2": 2 * MIB}[level]

    def sizes(self):
        return [2**n for n in range(14, 26)]

    @contextlib.contextmanager
    def product(self, name, size):
        self.asked.append((name, size))

        def run():
            spent = 2 * size**3 / self.rate(name, size)
            self.spend(spent)
            self.busy += spent

        yield run

    def sweep(self, kind, size):
        passes = max(1, 2**24 // size)  # so that no sweep is over before the clock could tell
        return lambda: self.spend(passes * size / self.bandwidth(kind, size)), passes * size

    def nothing(self):
        return lambda: self.spend(1e-6)

    def spend(self, seconds):
        self.now += seconds
