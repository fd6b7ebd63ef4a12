"""Which run gets the next slot: by priority, then by the smallest share, so that no slot is left idle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overtone.core.resources import Resources
from overtone.engines.ray.run_claims import NOTHING_YET, Claim
from overtone.engines.ray.shares import allow, dominant_share, targets

CPU = Resources.of({"cpu": 1})
GPU = Resources.of({"cpu": 1, "gpu": 1})
LICENSE = Resources.of({"cpu": 1, "license": 1})
ALL = Resources.of({"cpu": 8})
HALF = Resources.of({"cpu": 4})
ONE: Mapping[str, Mapping[str, float]] = {"a": {"cpu": 8.0}}
TWO: Mapping[str, Mapping[str, float]] = {"a": {"cpu": 4.0}, "b": {"cpu": 4.0}}


def run(
    name: str, held: int = 0, wants: int = 0, shape: Resources = CPU, node: str = "a", priority: float = 0,
    turn: int = 0, barred: Sequence[str] = (),
) -> Claim:  # fmt: skip
    return Claim(
        name, priority, 0.0, 1000.0 * turn if held or turn else NOTHING_YET, {(shape, (node,)): held} if held else {},
        [(shape, wants)] if wants else [], frozenset(barred),
    )  # fmt: skip


def due(nodes: Mapping[str, Mapping[str, float]], *claims: Claim) -> dict[str, int]:
    return {name: counts.total() for name, counts in targets(claims, nodes).items()}


# --- what is due ------------------------------------------------------------------------


def test_runs_of_equal_priority_share_equally() -> None:
    assert due(ONE, run("x", 8, 9), run("y", 0, 9)) == {"x": 4, "y": 4}


def test_what_one_run_does_not_want_goes_to_the_others() -> None:
    assert due(ONE, run("x", 5, 9), run("y", 0, 2)) == {"x": 6, "y": 2}


def test_a_run_of_higher_priority_comes_first() -> None:
    assert due(ONE, run("x", 8, 9), run("y", 0, 7, priority=5)) == {"x": 1, "y": 7}


def test_a_run_that_never_held_anything_has_the_first_turn() -> None:
    nodes = {"a": {"cpu": 1.0}}
    assert due(nodes, run("x", 1, 9), run("y", 0, 9)) == {"x": 0, "y": 1}


def test_turns_are_taken_where_shares_cannot_be_equal() -> None:
    nodes = {"a": {"cpu": 1.0}}
    assert due(nodes, run("x", 1, 9, turn=3), run("y", 0, 9, turn=0)) == {"x": 0, "y": 1}
    three = [run("x", 3, 9, turn=2), run("y", 3, 9, turn=1), run("z", 2, 9, turn=1)]
    assert due(ONE, *three) == {"x": 2, "y": 3, "z": 3}


def test_equal_turns_leave_slots_where_they_are() -> None:
    for held in ((3, 3, 2), (3, 2, 3), (2, 3, 3)):
        claims = [run(name, count, 9) for name, count in zip("xyz", held, strict=True)]
        assert due(ONE, *claims) == dict(zip("xyz", held, strict=True))


def test_shares_are_of_the_resource_that_a_run_uses_most_of() -> None:
    nodes = {"a": {"cpu": 16.0, "gpu": 4.0, "license": 2.0}}
    assert due(nodes, run("x", 0, 64, CPU), run("y", 0, 64, GPU)) == {"x": 13, "y": 3}
    assert due(nodes, run("x", 0, 64, GPU), run("y", 0, 64, LICENSE)) == {"x": 4, "y": 2}
    assert dominant_share({GPU: 2, CPU: 4}, {"cpu": 16.0, "gpu": 4.0}) == 0.5


def test_a_node_that_a_run_cannot_use_is_left_to_the_others() -> None:
    assert due(TWO, run("x", 0, 9, barred="b"), run("y", 0, 9)) == {"x": 4, "y": 4}
    assert due(TWO, run("x", 0, 9, barred="b"), run("y", 0, 9, barred="b")) == {"x": 2, "y": 2}
    assert due(TWO, run("x", 0, 9, barred="ab"), run("y", 0, 9)) == {"x": 0, "y": 8}


# --- what one run may use -----------------------------------------------------------------


def test_a_run_alone_uses_everything() -> None:
    found = allow(run("x", 3, 9), [], ONE)
    assert found.left == {"a": {"cpu": 8.0}}
    assert (found.n_returns, found.has_claimants) == (0, False)


def test_a_run_returns_what_is_due_to_others_and_no_more() -> None:
    found = allow(run("x", 8, 64), [run("y", 0, 64)], ONE)
    assert (found.left, found.returns_on, found.n_returns) == ({"a": {"cpu": 4.0}}, {"a"}, 4)


def test_what_is_free_and_due_to_another_run_is_left_to_it() -> None:
    found = allow(run("x", 6, 64), [run("y", 0, 2)], ONE)
    assert (found.left, found.n_returns, found.ready) == ({"a": {"cpu": 6.0}}, 0, {"y"})
    assert not found.grants


def test_the_next_slot_anywhere_goes_to_the_higher_priority() -> None:
    low = Claim("x", held={(CPU, ("a",)): 4, (CPU, ("b",)): 4}, wanted=[(CPU, 64)])
    found = allow(low, [run("y", 0, 1, priority=5)], TWO)
    assert (found.returns_on, found.n_returns) == ({"a", "b"}, 1)
    assert found.left == {"a": {"cpu": 3.0}, "b": {"cpu": 3.0}}


def test_a_run_within_its_share_gives_the_first_trial_of_another_its_turn_only() -> None:
    fair = run("y", 4, 9)
    assert allow(fair, [run("x", 4, 9), run("z", 0, 9)], ONE).n_returns == 1
    assert allow(run("y", 2, 9), [run("x", 5, 9), run("z", 1, 9)], ONE).n_returns == 0


def test_two_runs_that_wait_for_the_same_slot_agree_who_takes_it() -> None:
    x, y = run("x", 1, 9), run("y", 1, 9)
    others = run("z", 5, 0)  # one slot is free
    grants = [allow(mine, [other, others], ONE).grants for mine, other in ((x, y), (y, x))]
    assert grants == [{CPU: 1}, {}]


def test_a_large_trial_gets_one_node_while_others_go_on() -> None:
    small = Claim("x", spent=0.0, held={(CPU, ("a",)): 3, (CPU, ("b",)): 4}, wanted=[(CPU, 64)])
    large = run("y", 0, 1, HALF)
    found = allow(small, [large], TWO)
    assert (found.returns_on, found.n_returns) == ({"a"}, 3)  # fewer have to end there
    assert found.left == {"a": {"cpu": 0.0}, "b": {"cpu": 4.0}}


def test_what_is_kept_for_a_large_trial_is_not_given_to_small_ones_that_come_later() -> None:
    large, small = run("y", 0, 1, ALL), run("x", 7, 64, turn=5)
    assert allow(small, [large], ONE).left == {"a": {"cpu": 0.0}}
    other = run("z", 1, 64, turn=5)
    assert allow(other, [run("x", 5, 64, turn=5), large], ONE).grants == {}


def test_a_large_trial_that_fits_on_no_node_keeps_nothing() -> None:
    found = allow(run("x", 8, 64), [run("y", 0, 1, Resources.of({"cpu": 9}))], ONE)
    assert (found.left, found.n_returns) == ({"a": {"cpu": 8.0}}, 0)


def test_a_gang_gets_all_of_its_nodes() -> None:
    gang = Resources.of([{"cpu": 3}, {"cpu": 3}], "STRICT_SPREAD")
    small = Claim("x", spent=0.0, held={(CPU, ("a",)): 4, (CPU, ("b",)): 4}, wanted=[(CPU, 64)])
    found = allow(small, [run("y", 0, 1, gang)], TWO)
    assert found.returns_on == {"a", "b"}
    assert found.n_returns > 0


def test_nodes_that_a_claimant_cannot_use_go_on() -> None:
    small = Claim("x", spent=0.0, held={(CPU, ("a",)): 4, (CPU, ("b",)): 4}, wanted=[(CPU, 64)])
    found = allow(small, [run("y", 0, 9, barred="a")], TWO)
    assert found.returns_on == {"b"}
    assert found.left["a"] == {"cpu": 4.0}


def test_a_run_does_not_keep_gpus_from_those_that_need_them_with_trials_that_need_none() -> None:
    nodes = {"a": {"cpu": 4.0, "gpu": 2.0}}
    busy = run("x", 4, 64, turn=0)
    found = allow(busy, [run("y", 0, 64, GPU)], nodes)
    assert found.n_returns == 1
    assert found.left == {"a": {"cpu": 3.0, "gpu": 1.0}}  # one is kept
