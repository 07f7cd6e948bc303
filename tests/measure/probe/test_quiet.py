"""Disturbed measurements: counted by a made-up kernel, repeated, and never hidden."""

import os

import pytest

from scalelab.measure.probe import quiet


class Machine:
    """Each try takes ten seconds, and is kept waiting for these shares of it."""

    def __init__(self, *shares):
        self.shares, self.tries, self.now, self.kept, self.rests = shares, 0, 0.0, 0.0, []

    def work(self):
        self.now += 10
        self.kept += 10 * self.shares[min(self.tries, len(self.shares) - 1)]
        self.tries += 1
        return f"try {self.tries}"

    def undisturbed(self, **settings):
        settings = {"waited": lambda: self.kept} | settings
        return quiet.undisturbed(
            self.work, clock=lambda: self.now, sleep=self.rests.append, **settings
        )


def test_a_calm_try_is_the_only_one():
    found = Machine(0.01).undisturbed()
    assert (found.result, found.tries, found.disturbed) == ("try 1", 1, False)
    assert found.waited == pytest.approx(0.01)


def test_a_disturbed_try_is_repeated_until_a_calm_one():
    machine = Machine(0.5, 0.3, 0.0, 0.9)
    found = machine.undisturbed(tries=9)
    assert (found.result, found.tries, found.disturbed) == ("try 3", 3, False)


def test_if_none_is_calm_the_calmest_is_kept_and_said_to_be_disturbed():
    found = Machine(0.5, 0.1, 0.4).undisturbed(tries=3)
    assert (found.result, found.tries, found.disturbed) == ("try 2", 3, True)
    assert found.waited == pytest.approx(0.1)


def test_what_a_kernel_at_rest_takes_is_no_disturbance():
    assert not Machine(0.019).undisturbed().disturbed
    assert Machine(0.021).undisturbed(tries=1).disturbed


def test_it_rests_between_tries_and_not_before_or_after():
    machine = Machine(0.5, 0.5, 0.0)
    machine.undisturbed(pause=2.0)
    assert machine.rests == [2.0, 2.0]


def test_where_nothing_is_known_nothing_is_repeated():
    found = Machine(0.9).undisturbed(waited=lambda: None)
    assert (found.result, found.waited, found.tries, found.disturbed) == ("try 1", None, 1, False)


def test_threads_that_ended_do_not_make_the_waiting_negative():
    sums = iter([5.0, 2.0])
    assert Machine(0).undisturbed(waited=lambda: next(sums)).waited == 0


def test_an_error_of_the_measurement_reaches_the_caller():
    def broken():
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        quiet.undisturbed(broken, waited=lambda: 0.0)


@pytest.mark.parametrize("tries", [0, -1, 1.5, "2", None, True])
def test_tries_are_counted_in_whole_numbers(tries):
    with pytest.raises(ValueError, match="tries must be a whole number"):
        quiet.undisturbed(lambda: 1, tries=tries)


def proc(root, threads, stat="cpu  1 2 3 4 5 6 7 0 0 0\n"):
    for number, line in threads.items():
        folder = root / "self/task" / str(number)
        folder.mkdir(parents=True)
        (folder / "schedstat").write_text(line)
    (root / "stat").write_text(stat)
    return root


def test_all_threads_count_and_nanoseconds_become_seconds(tmp_path):
    """Fields: ns on the processor, ns ready and waiting, turns."""
    root = proc(tmp_path, {1: "7000000000 1500000000 9\n", 2: "0 500000000 1\n"})
    assert quiet.waited(root) == 2.0


def test_time_that_the_host_of_a_virtual_machine_took_counts_too(tmp_path):
    tick = os.sysconf("SC_CLK_TCK")
    root = proc(tmp_path, {1: "0 0 0\n"}, f"cpu  1 2 3 4 5 6 7 {3 * tick} 0 0\ncpu0 9 9 9\n")
    assert quiet.waited(root) == 3.0


def test_a_kernel_that_does_not_count_says_nothing(tmp_path):
    assert quiet.waited(tmp_path) is None
    (tmp_path / "self/task/1").mkdir(parents=True)
    (tmp_path / "self/task/1/schedstat").write_text("not numbers\n")
    assert quiet.waited(tmp_path) is None


def test_a_thread_that_ends_while_it_is_read_is_left_out(tmp_path):
    root = proc(tmp_path, {1: "0 1000000000 1\n", 2: ""})
    assert quiet.waited(root) == 1.0


@pytest.mark.skipif(quiet.waited() is None, reason="this kernel does not count")
def test_two_programs_on_one_core_wait_for_each_other():
    """A child that spins on the same core: the kernel must have let us wait for some of the time."""
    import subprocess
    import sys

    mine = os.sched_getaffinity(0)
    core = {min(mine)}
    spin = f"import os\nos.sched_setaffinity(0, {core})\nprint(flush=True)\nwhile True: pass"
    child = subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE)
    try:
        child.stdout.readline()
        os.sched_setaffinity(0, core)
        found = quiet.undisturbed(lambda: sum(range(10**7)), tries=1)
    finally:
        os.sched_setaffinity(0, mine)
        child.kill()
        child.communicate()
    assert found.disturbed
