"""Claims of servers on one machine."""

from __future__ import annotations

from pathlib import Path

from overtone.worker.limits.memory_claims import FRESH_S, Neighbours


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_worst_trial_is_found(tmp_path: Path) -> None:
    clock = Clock()
    first, second, third = (Neighbours(tmp_path / "yard", clock) for _ in range(3))
    first.claim(5, 10, 0.0)
    second.claim(5, 11, 0.0)
    third.claim(0, 99, 0.0)
    assert first.has_worse(5, 10)
    assert not second.has_worse(5, 11)
    assert third.has_worse(0, 99)
    second.close()
    assert not first.has_worse(5, 10)
    clock.now += FRESH_S + 0.01
    assert not third.has_worse(0, 99)


def test_of_two_alike_one_comes_first(tmp_path: Path) -> None:
    clock = Clock()
    both = [Neighbours(tmp_path / "yard", clock) for _ in range(2)]
    for one in both:
        one.claim(5, 10, 0.0)
    assert sorted(one.has_worse(5, 10) for one in both) == [False, True]


def test_an_end_that_another_waits_for_counts_as_long_as_it_says_so(tmp_path: Path) -> None:
    clock = Clock()
    first, second = (Neighbours(tmp_path / "yard", clock) for _ in range(2))
    second.claim(0, 1, clock.now + 5)
    assert first.has_worse(5, 10)
    clock.now += FRESH_S + 0.01
    assert not first.has_worse(5, 10)


def test_what_killed_servers_left_is_swept_and_harmless(tmp_path: Path) -> None:
    yard = tmp_path / "yard"
    (yard / "torn").mkdir(parents=True)
    own = Neighbours(yard, Clock())
    assert not (yard / "torn").exists()
    (yard / "torn").mkdir()
    (yard / "torn" / "claim").write_bytes(b"12")
    assert not own.has_worse(0, 0)
    own.close()
    own.close()
    assert [one.name for one in yard.iterdir() if one.name != "torn"] == [".lock"]


def test_without_a_place_for_claims_each_decides_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    alone = Neighbours(tmp_path / "file" / "yard", Clock())
    alone.claim(1, 1, 0.0)
    assert not alone.has_worse(0, 0)
    assert alone.descriptors == []
    alone.close()
