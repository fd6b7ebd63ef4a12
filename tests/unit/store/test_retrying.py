"""Which failures are tried again, and for how long."""

import errno
from pathlib import Path

import pytest

from overtone.core.store import Store
from overtone.errors import StorageError
from overtone.store.failures import UnreachableError
from overtone.store.retrying import Retrying, jittered, persist


class Time:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


class Failing:
    """Fails as it is told, then returns."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def trying(action, time, **options):
    return persist(action, 60, clock=time.clock, sleep=time.sleep, draw=lambda: 1.0, **options)


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError("late"),
        OSError(errno.EBUSY, "slow down"),
        ConnectionResetError(),
        UnreachableError("away"),
    ],
)
def test_what_passes_is_tried_again(error):
    time, said, action = Time(), [], Failing(error, error, error)
    assert trying(action, time, say=said.append) == "done"
    assert time.slept == [0.5, 1.0, 2.0]
    assert said == [f"{error} (trying again)", "the store answers again"]


@pytest.mark.parametrize(
    "error", [PermissionError("denied"), FileNotFoundError("no bucket"), StorageError("no"), ValueError()]
)
def test_what_does_not_pass_is_said_at_once(error):
    time, action = Time(), Failing(error)
    with pytest.raises(type(error)):
        trying(action, time)
    assert action.calls == 1
    assert time.slept == []


def test_patience_ends():
    time, action = Time(), Failing(*[TimeoutError("late")] * 100)
    with pytest.raises(StorageError, match=r"late \(tried again for 60 s\)"):
        trying(action, time)
    assert time.now == 60


def test_pauses_are_drawn_below_a_bound_that_doubles():
    draws = iter([0.0, 0.5, 1.0, 0.25] + [1.0] * 9)
    found = jittered(lambda: next(draws))
    assert [next(found) for _ in range(4)] == [0.0, 0.5, 2.0, 1.0]
    assert max(next(found) for _ in range(9)) == 20.0


class Unsteady(Store):
    """Fails every other call."""

    def __init__(self):
        self.n = 0

    def _do(self, found):
        self.n += 1
        if self.n % 2:
            raise TimeoutError
        return found

    def put(self, source, key, move=False):
        return self._do(f"uri of {key}, {move}")

    def get(self, uri):
        return self._do(Path(uri))

    def delete(self, uri):
        self._do(None)

    def list(self, prefix=""):
        return self._do([prefix])


def test_every_call_of_a_store_is_tried_again():
    time, store = Time(), Unsteady()
    retrying = Retrying(store, clock=time.clock, sleep=time.sleep, say=lambda line: None)
    assert retrying.put(Path("x"), "a/b", move=True) == "uri of a/b, True"
    assert retrying.get("/x") == Path("/x")
    assert retrying.delete("/x") is None
    assert retrying.list("a") == ["a"]
    assert store.n == 8
