"""Whole stories of runs that share nodes by the rules, second by second, without Ray."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from overtone.core.placement import demands_of, fit
from overtone.core.resources import Resources
from overtone.engines.ray.run_claims import NOTHING_YET, Claim
from overtone.engines.ray.shares import allow, dominant_share, node_of, total_of

CPU = Resources.of({"cpu": 1})
GPU = Resources.of({"cpu": 1, "gpu": 1})

Nodes = Mapping[str, Mapping[str, float]]


@dataclass
class Player:
    """A run that always wants another trial."""

    name: str
    shape: Resources
    length_s: int
    begins: int = 0
    priority: float = 0.0
    ends: list[tuple[int, str]] = field(default_factory=list)  # (when, node)
    started: list[int] = field(default_factory=list)
    held_s: float = 0.0
    spent: float = NOTHING_YET

    def claim(self) -> Claim:
        held = Counter([(self.shape, (node,)) for _, node in self.ends])
        return Claim(self.name, self.priority, self.begins, self.spent, held, [(self.shape, 64)])


def play(nodes: Nodes, players: Sequence[Player], lasts_s: int) -> list[dict[str, int]]:
    """Play so many seconds; return how many trials each run held in each of them."""
    story = []
    for now in range(lasts_s):
        present = [one for one in players if one.begins <= now]
        for one in present:
            _end(one, [other for other in present if other is not one], nodes, now)
        for one in present:
            _start(one, [other for other in present if other is not one], nodes, now)
        for one in present:
            if one.ends or one.spent != NOTHING_YET:
                others = [other.spent for other in present if other.spent != NOTHING_YET]
                spent = min(others, default=0.0) if one.spent == NOTHING_YET else one.spent
                one.spent = spent + dominant_share({one.shape: len(one.ends)}, total_of(nodes))
            one.held_s += len(one.ends)
        story.append({one.name: len(one.ends) for one in present})
    return story


def _end(one: Player, others: Sequence[Player], nodes: Nodes, now: int) -> None:
    """End the trials whose time has come; each goes on as the next one, or its resources are returned."""
    for end, node in [trial for trial in one.ends if trial[0] <= now]:
        found = allow(one.claim(), [other.claim() for other in others], nodes)
        one.ends.remove((end, node))
        if not (found.n_returns and node in found.returns_on):
            one.ends.append((now + one.length_s, node))
            one.started.append(now)


def _start(one: Player, others: Sequence[Player], nodes: Nodes, now: int) -> None:
    found = allow(one.claim(), [other.claim() for other in others], nodes)
    held = one.claim().by_node()
    left = [
        node_of(id, {name: n - held.get(id, {}).get(name, 0.0) for name, n in amounts.items()})
        for id, amounts in found.left.items()
    ]
    for _ in range((found.grants or {}).get(one.shape, 64 if found.grants is None else 0)):
        placement = fit(one.shape, left)
        if placement is None:
            return
        node = next(node for node in left if node.name == placement.nodes[0])
        node.take(demands_of(one.shape)[0], placement.gpus[0])
        one.ends.append((now + one.length_s, placement.nodes[0]))
        one.started.append(now)


@pytest.mark.parametrize("length_s", [1, 5, 30])
def test_three_runs_on_eight_slots_hold_equal_shares_and_leave_none_idle(length_s: int) -> None:
    players = [Player(name, CPU, length_s, begins=2 * index) for index, name in enumerate("xyz")]
    story = play({"a": {"cpu": 8.0}}, players, 12 * length_s + 60)
    assert all(sum(held.values()) == 8 for held in story)
    assert all(one.started[0] - one.begins <= length_s for one in players)
    since = next(at for at, held in enumerate(story) if len(held) == 3 and min(held.values())) + length_s
    for one in players:
        mean = sum(held[one.name] for held in story[since:]) / len(story[since:])
        assert abs(mean / (8 / 3) - 1) <= 0.25


def test_runs_that_begin_at_the_same_moment_share_at_once_and_stay_there() -> None:
    players = [Player(name, CPU, 3) for name in "wxyz"]
    story = play({"a": {"cpu": 4.0}, "b": {"cpu": 4.0}}, players, 60)
    assert all(set(held.values()) == {2} for held in story)


def test_the_run_of_higher_priority_gets_each_slot_that_becomes_free() -> None:
    low, high = Player("low", CPU, 4), Player("high", CPU, 4, begins=10, priority=5.0)
    story = play({"a": {"cpu": 4.0}, "b": {"cpu": 4.0}}, [low, high], 40)
    assert not [at for at in low.started if at > 10]
    assert story[-1] == {"low": 0, "high": 8}


def test_more_runs_than_slots_take_turns() -> None:
    players = [Player(str(index), GPU, 10) for index in range(5)]
    story = play({"a": {"cpu": 8.0, "gpu": 1.0}}, players, 500)
    assert all(sum(held.values()) == 1 for held in story)
    assert {len(one.started) for one in players} <= {9, 10, 11}


def test_a_trial_that_needs_the_whole_cluster_has_its_turns() -> None:
    nodes = {"a": {"cpu": 8.0}}
    small = Player("small", CPU, 3)
    large = Player("large", Resources.of({"cpu": 8}), 10, begins=5)
    story = play(nodes, [small, replace(large)], 600)
    seconds = {name: sum(held.get(name, 0) for held in story) for name in ("small", "large")}
    assert 0.3 < 8 * seconds["large"] / (8 * 595) < 0.7
    assert seconds["small"] / (8 * 595) > 0.3


def test_trials_with_gpus_and_without_share_by_what_they_use_most_of() -> None:
    nodes = {"a": {"cpu": 8.0, "gpu": 4.0}, "b": {"cpu": 8.0}}
    cpus, gpus = Player("cpus", CPU, 3), Player("gpus", GPU, 7, begins=4)
    story = play(nodes, [cpus, gpus], 120)
    assert story[-1]["gpus"] >= 3
    assert story[-1]["cpus"] >= 12
    assert sum(story[-1].values()) == 16
