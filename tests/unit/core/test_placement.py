"""Where the bundles of a gang go, and how soon it is told that they do not fit."""


from overtone.core.ledger import Ledger
from overtone.core.placement import Node, fit, parts, sums_of
from overtone.core.resources import Resources


def test_nodes_stay_as_they_are():
    nodes = [Node("a", {"cpu": 20_000, "gpu": 10_000}, [10_000]), Node("b", {"cpu": 10_000})]
    before = [node.copy() for node in nodes]
    for demand in ({"cpu": 1, "gpu": 0.5}, [{"cpu": 1}] * 2, [{"cpu": 2}, {"cpu": 1}], [{"cpu": 2}] * 2):
        fit(Resources.of(demand), nodes)
        assert nodes == before


def test_what_a_placement_takes():
    demand = Resources.of([{"cpu": 2}, {"cpu": 1, "gpu": 0.5}])
    nodes = [Node("a", {"cpu": 20_000, "gpu": 10_000}, [10_000]), Node("b", {"cpu": 20_000})]
    placement = fit(demand, nodes)
    assert list(parts(demand, placement)) == [
        ("b", (("cpu", 20_000),), ()),
        ("a", (("cpu", 10_000), ("gpu", 5_000)), ((0, 0.5),)),
    ]
    assert sums_of(demand) == (("cpu", 30_000), ("gpu", 5_000))


def test_a_bundle_is_moved_for_another_that_fits_in_one_place_only():
    """The second goes to `a` first; then the only GPU is without a CPU, until it moves to `b`."""
    ledger = Ledger({"a": {"cpu": 3, "gpu": 1}, "b": {"cpu": 3}, "c": {"cpu": 9}})
    demand = Resources.of([{"cpu": 9}, {"cpu": 3}, {"cpu": 1}, {"cpu": 0.5, "gpu": 1}])
    assert ledger.place("x", demand).nodes == ("c", "b", "a", "a")


def test_a_gang_that_does_not_fit_is_told_soon():
    """All but the last fit in more ways than anybody could try."""
    ledger = Ledger({f"n{i:02}": {"cpu": 10 + i / 100} for i in range(24)})
    halves = [{"cpu": 5.6 + i / 100} for i in range(24)]
    for strategy in ("PACK", "STRICT_SPREAD"):
        assert not ledger.is_feasible(Resources.of([*halves, {"cpu": 4.95}, {"cpu": 4.9}], strategy))
        assert ledger.is_feasible(Resources.of(halves, strategy))
    assert ledger.free() == ledger.total()


def test_a_gang_of_alike_bundles_is_counted_and_not_searched():
    ledger = Ledger({f"n{i:02}": {"cpu": 10 + i / 100, "gpu": 2} for i in range(50)})
    assert ledger.is_feasible(Resources.of([{"cpu": 5, "gpu": 1}] * 100))
    assert not ledger.is_feasible(Resources.of([{"cpu": 6, "gpu": 1}] * 51))
    assert not ledger.is_feasible(Resources.of([{"cpu": 1}] * 51, "STRICT_SPREAD"))


def test_an_empty_bundle_needs_no_node_of_its_own():
    demand = Resources.of([{}, {"cpu": 1}, {"cpu": 1}], "STRICT_SPREAD")
    placement = Ledger({"a": {"cpu": 1}, "b": {"cpu": 1}}).place("x", demand)
    assert sorted(placement.nodes[1:]) == ["a", "b"]
    assert Ledger({"a": {"cpu": 1}}).place("x", demand) is None
