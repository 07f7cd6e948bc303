"""A GPU in which nothing is left to chance: a host that queues, streams that work, one cache."""


class FakeGpu:
    """What `devices.Asynchronous` asks for, on clocks that stand still unless told otherwise."""

    def __init__(self, *, cold=False, launch=5e-6, flushing=60e-6):
        self.cold, self.launch, self.flushing = cold, launch, flushing
        self.shortest = 0.0 if cold else 2e-3
        self.now = 0.0  # the caller's clock
        self.busy = {"current": 0.0, "side": 0.0}  # until when each stream is
        self.cached = False
        self.capturing = None
        self.flushes = 0

    def clock(self):
        return self.now

    def kernel(self, hot, cold=None, stream="current", replayed=None):
        """Return a function that launches work of so many seconds, with and without its data cached.

        A graph may carry it out by other means, which take `replayed`.
        """

        def call():
            if self.capturing is None:
                self.now += self.launch
                self._work(hot, cold or hot, stream)
            else:
                self.capturing.append((replayed or hot, replayed or cold or hot, stream))

        return call

    def elapsed(self, run):
        self.prepare()
        start = max(self.now, self.busy["current"])
        run()
        end = max(self.now, self.busy["current"])
        self.now = end
        return end - start

    def synchronize(self):
        self.now = max(self.now, *self.busy.values())

    def prepare(self):
        if not self.cold:
            return
        self.flushes += 1
        self.now += self.launch
        self._work(self.flushing, self.flushing, "current")
        self.cached = False

    def captured(self, run):
        self.capturing = []
        try:
            run()
            work = self.capturing
        finally:
            self.capturing = None

        def replay():
            self.now += self.launch
            for kernel in work:
                self._work(*kernel)

        return replay

    def _work(self, hot, cold, stream):
        self.busy[stream] = max(self.busy[stream], self.now) + (hot if self.cached else cold)
        self.cached = True
