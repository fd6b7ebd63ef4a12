"""One writer at a URL."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from overtone.errors import StorageError
from overtone.store.failures import UnreachableError
from overtone.store.files import RemoteFiles
from overtone.store.lease import EXPIRE_S, RENEW_S, SETTLE_S, Lease, LeaseHeldError, LeaseLostError, holder

pytest.importorskip("fsspec")


class Time:
    """A clock that sleeping moves, and those who do something meanwhile."""

    def __init__(self):
        self.now = 1000.0
        self.meanwhile = lambda: None
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds
        self.meanwhile()


@pytest.fixture
def files(tmp_path):
    return RemoteFiles(f"memory:/{tmp_path}/exp")


@pytest.fixture
def time():
    return Time()


def acquire(files, time, said=None):
    return Lease.acquire(
        files, now=time, sleep=time.sleep, clock=time, say=said.append if said is not None else None
    )


def elsewhere(files, number=1, **facts):
    """Let the holder of a lease be a process of another machine."""
    changed(files, number, machine="another", hostname="gpu-7", pid=4711, token="x", **facts)


def changed(files, number, **facts):
    """Let a lease say something else."""
    name = f"lease/{number:06d}.json"
    files.write(name, json.dumps({**json.loads(files.read(name)), **facts}).encode())


def test_numbers_grow(files, time):
    for number in (1, 2, 3):
        lease = acquire(files, time)
        assert lease.number == number
        lease.check()
        lease.release()
    assert time.slept == []


def test_the_error_names_host_pid_and_age(files, time):
    acquire(files, time)
    elsewhere(files)
    time.now += 12
    time.meanwhile = lambda: elsewhere(files, time=1012.0)
    with pytest.raises(
        LeaseHeldError,
        match=r"exp is being written by process 4711 on gpu-7, since 13 s ago \(last heard of 1 s ago\): wait",
    ):
        acquire(files, time)


DAY_S = 86400.0


@pytest.mark.parametrize("skew_s", [-DAY_S, -1.0, 0.0, 1.0, DAY_S])
def test_a_holder_that_stops_renewing_is_dead_whatever_its_clock_says(files, time, skew_s):
    old, said = acquire(files, time), []
    elsewhere(files, time=time.now + skew_s, since=time.now + skew_s)
    new = acquire(files, time, said)
    assert new.number == 2
    assert EXPIRE_S < sum(time.slept) < EXPIRE_S + 5
    (line,) = said
    assert line.endswith(
        "exp was last written by process 4711 on gpu-7: watching for up to 30 s whether that driver is alive"
    )
    with pytest.raises(LeaseLostError, match=f"taken over by process {os.getpid()} on .* it stops writing"):
        old.check()
    with pytest.raises(LeaseLostError):
        old.renew()
    old.release()  # says nothing any more
    new.check()


@pytest.mark.parametrize("skew_s", [-DAY_S, -1.0, 0.0, 1.0, DAY_S])
def test_a_holder_that_renews_is_alive_whatever_its_clock_says(files, time, skew_s):
    acquire(files, time)
    elsewhere(files, time=time.now + skew_s)

    def renew():
        if sum(time.slept) >= EXPIRE_S - 1:  # late, but not too late
            elsewhere(files, time=time.now + skew_s)

    time.meanwhile = renew
    with pytest.raises(LeaseHeldError):
        acquire(files, time)
    assert sum(time.slept) == EXPIRE_S - 1


def test_a_watcher_that_was_frozen_itself_looks_once_more(files, time):
    acquire(files, time)
    elsewhere(files)

    def freeze():
        time.now += 10 * EXPIRE_S
        elsewhere(files, time=time.now)

    time.meanwhile = freeze
    with pytest.raises(LeaseHeldError):
        acquire(files, time)


def test_a_lease_that_is_given_back_while_it_is_watched_is_free(files, time):
    acquire(files, time)
    elsewhere(files)
    time.meanwhile = lambda: elsewhere(files, is_over=True)
    assert acquire(files, time).number == 2
    assert sum(time.slept) < RENEW_S


def test_a_holder_in_this_process_is_alive_without_a_look(files, time):
    held = acquire(files, time)
    time.now += 10 * EXPIRE_S
    with pytest.raises(LeaseHeldError):
        acquire(files, time)
    assert time.slept == []
    held.check()


def test_a_look_that_took_too_long_is_no_look(files, time, monkeypatch):
    held, read = acquire(files, time), RemoteFiles.read
    monkeypatch.setattr("overtone.store.lease._ticks", time)

    def frozen(self, name):
        found = read(self, name)
        time.now += EXPIRE_S
        return found

    with monkeypatch.context() as patch:
        patch.setattr(RemoteFiles, "read", frozen)
        with pytest.raises(UnreachableError):
            held.check()
    held.check()


@pytest.mark.skipif(not os.path.exists("/proc/self/ns/pid"), reason="needs Linux")
def test_a_process_of_this_machine_that_is_gone_is_dead_at_once(files, time):
    acquire(files, time)
    changed(files, 1, pid=2**22 + 1)  # above the largest pid
    assert acquire(files, time).number == 2
    assert time.slept == []


def test_a_lease_that_could_not_be_given_back_is_free_for_the_same_process(files, time, monkeypatch):
    held = acquire(files, time)

    def fail(self, name, data):
        raise StorageError("away")

    with monkeypatch.context() as patch:
        patch.setattr(RemoteFiles, "write", fail)
        held.release()
    assert acquire(files, time).number == 2
    assert time.slept == []


def test_who_is_at_work(files, time):
    assert holder(files, time) is None
    held = acquire(files, time)
    assert holder(files, time)["pid"] == os.getpid()
    time.now += EXPIRE_S + 1
    assert holder(files, time) is None
    changed(files, 1, time=time.now + DAY_S)  # a clock that is ahead
    assert holder(files, time) is None
    held.renew()
    assert holder(files, time)["since"] == 1000.0
    held.release()
    assert holder(files, time) is None


@pytest.mark.parametrize("skew_s", [-600.0, -31.0, 31.0, 7200.0])
def test_a_driver_whose_clock_is_wrong_is_seen_at_its_next_renewal(files, time, skew_s):
    held = acquire(files, time)
    changed(files, 1, time=time.now + skew_s)
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 5:
            changed(files, 1, time=time.now + skew_s + 5.0)

    assert holder(files, time) is None
    assert holder(files, time, watches=True, sleep=sleep)["pid"] == os.getpid()
    assert sum(slept) == 5.0
    held.release()


@pytest.mark.parametrize(("age_s", "waits"), [(60.0, 7.0), (2 * DAY_S, 0.0), (-2 * DAY_S, 0.0)])
def test_a_lease_that_nobody_renews_has_no_holder(files, time, age_s, waits):
    acquire(files, time)
    changed(files, 1, time=time.now - age_s)
    slept = []
    assert holder(files, time, watches=True, sleep=slept.append) is None
    assert sum(slept) == waits


def test_a_driver_that_ends_while_it_is_watched_is_not_at_work(files, time):
    held = acquire(files, time)
    changed(files, 1, time=time.now - 60.0)
    assert holder(files, time, watches=True, sleep=lambda _: held.release()) is None


def test_one_of_many_at_once_gets_it(tmp_path):
    files = RemoteFiles(f"file://{tmp_path}/exp")

    def attempt(_):
        try:
            return Lease.acquire(files).number
        except StorageError:
            return None

    with ThreadPoolExecutor(8) as pool:
        found = [one for one in pool.map(attempt, range(32)) if one]
    assert found == [1]


def test_where_creating_is_not_one_step_the_last_of_two_gets_it(files, time, monkeypatch):
    monkeypatch.setattr(RemoteFiles, "is_exclusive", False)
    rival = Lease(files, 1, time)
    time.meanwhile = lambda: files.write("lease/000001.json", rival._text())
    with pytest.raises(LeaseHeldError):
        acquire(files, time)
    assert time.slept == [SETTLE_S]
    rival.check()


def test_a_server_that_does_not_know_create_is_found_out(files, time, monkeypatch):
    monkeypatch.setattr(RemoteFiles, "create", lambda self, name, data: self.write(name, data) or True)
    rival = Lease(files, 1, time)
    time.meanwhile = lambda: files.write("lease/000001.json", rival._text())
    with pytest.raises(LeaseHeldError):
        acquire(files, time)


def test_an_answer_that_was_lost_is_no_rival(files, time, monkeypatch):
    create, calls = RemoteFiles.create, []

    def lost(self, name, data):
        calls.append(name)
        found = create(self, name, data)
        if len(calls) == 1:
            raise TimeoutError
        return found

    monkeypatch.setattr(RemoteFiles, "create", lost)
    assert Lease.acquire(files, now=time, sleep=time.sleep, patience_s=60).number == 1


def test_a_lease_that_cannot_be_read_is_watched(files, time):
    files.write("lease/000001.json", b"{")
    time.meanwhile = lambda: files.write("lease/000001.json", b'{"pid": 1, "hostname": "h"}')
    with pytest.raises(LeaseHeldError, match="by process 1 on h: wait"):
        acquire(files, time)
    time.meanwhile = lambda: None
    assert acquire(files, time).number == 2
