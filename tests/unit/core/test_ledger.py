"""Where demands are placed, and what the books say."""

import pytest

from overtone.core.ledger import Ledger, check_feasible, infeasible
from overtone.core.resources import Placement, Resources
from overtone.errors import ResourceError


def cpus(n, **more):
    return Resources.of({"cpu": n, **more})


def gpus(n):
    return Resources.of({"gpu": n})


def test_places_until_it_is_full_and_again_after_a_release():
    ledger = Ledger({"a": {"cpu": 2}})
    assert ledger.place("x", cpus(1)) == Placement(("a",), ((),))
    assert ledger.place("y", cpus(1)) == Placement(("a",), ((),))
    assert ledger.place("z", cpus(0.5)) is None
    assert not ledger.fits(cpus(0.5))
    assert len(ledger) == 2
    ledger.release("x")
    assert ledger.free() == {"cpu": 1.0}
    assert ledger.fits(cpus(1))
    assert ledger.place("z", cpus(1)) is not None


def test_an_exact_fit_fits():
    ledger = Ledger({"a": {"cpu": 0.3}})
    for owner in "xyz":
        assert ledger.place(owner, cpus(0.1)) is not None
    assert ledger.free() == {"cpu": 0.0}
    for owner in "xyz":
        ledger.release(owner)
    assert ledger.free() == ledger.total() == {"cpu": 0.3}


def test_releasing_what_is_not_there_is_no_error():
    ledger = Ledger({"a": {"cpu": 1}})
    ledger.release("x")
    assert ledger.free() == {"cpu": 1.0}


def test_nobody_is_placed_twice():
    ledger = Ledger({"a": {"cpu": 2}})
    ledger.place("x", cpus(1))
    with pytest.raises(ValueError, match="x is placed already"):
        ledger.place("x", cpus(1))


def test_every_resource_counts():
    ledger = Ledger({"a": {"cpu": 4, "memory": 2e9, "licence": 1}})
    demand = cpus(1, memory="1GB", licence=1)
    assert ledger.place("x", demand) is not None
    assert ledger.place("y", demand) is None
    assert ledger.place("z", cpus(1, memory="1.5GB")) is None
    assert ledger.free() == {"cpu": 3.0, "memory": 1e9, "licence": 0.0}


def test_what_a_node_does_not_have_does_not_fit():
    ledger = Ledger({"a": {"cpu": 4}})
    assert ledger.place("x", gpus(1)) is None
    assert not ledger.is_feasible(cpus(1, tpu=1))
    assert not ledger.is_feasible(cpus(4.1))
    assert ledger.is_feasible(cpus(4))


def test_an_empty_demand_needs_a_node_and_nothing_else():
    assert Ledger({"a": {"cpu": 1}}).place("x", Resources.of({})) == Placement(("a",), ((),))
    assert Ledger({}).place("x", Resources.of({})) is None


# --- GPUs ------------------------------------------------------------------------------


def test_whole_gpus_are_named():
    ledger = Ledger({"a": {"gpu": 3}})
    assert ledger.place("x", gpus(2)).gpus == (((0, 1.0), (1, 1.0)),)
    assert ledger.place("y", gpus(2)) is None
    assert ledger.place("z", gpus(1)).gpus == (((2, 1.0),),)
    ledger.release("x")
    assert ledger.place("y", gpus(1)).gpus == (((0, 1.0),),)


def test_fractions_share_the_fullest_gpu_that_has_room():
    ledger = Ledger({"a": {"gpu": 2}})
    places = [ledger.place(owner, gpus(0.5)).gpus[0][0] for owner in "wxy"]
    assert places == [(0, 0.5), (0, 0.5), (1, 0.5)]
    ledger.release("w")
    assert ledger.place("z", gpus(0.25)).gpus[0][0] == (0, 0.25)
    assert ledger.place("v", gpus(1)) is None


def test_a_whole_gpu_is_one_that_nobody_shares():
    ledger = Ledger({"a": {"gpu": 2}})
    ledger.place("x", gpus(0.5))
    assert ledger.place("y", gpus(1)).gpus == (((1, 1.0),),)


def test_fractions_never_span_gpus():
    ledger = Ledger({"a": {"gpu": 2}})
    ledger.place("x", gpus(0.6)), ledger.place("y", gpus(0.6))
    assert ledger.free() == {"gpu": 0.8}
    assert ledger.place("z", gpus(0.6)) is None
    assert ledger.place("z", gpus(0.4)).gpus[0][0] == (0, 0.4)


# --- several bundles -------------------------------------------------------------------

TWO = {"a": {"cpu": 2}, "b": {"cpu": 2}}


def bundles(*amounts, strategy="PACK"):
    return Resources.of([{"cpu": amount} for amount in amounts], strategy)


@pytest.mark.parametrize(
    ("demand", "nodes"),
    [
        (bundles(1, 1), ("a", "a")),
        (bundles(1, 1, strategy="STRICT_PACK"), ("a", "a")),
        (bundles(1, 1, strategy="SPREAD"), ("a", "b")),
        (bundles(1, 1, strategy="STRICT_SPREAD"), ("a", "b")),
        (bundles(2, 2), ("a", "b")),
        (bundles(2, 2, strategy="STRICT_PACK"), None),
        (bundles(1, 1, 1), ("a", "a", "b")),
        (bundles(1, 1, 1, strategy="SPREAD"), ("a", "b", "a")),
        (bundles(1, 1, 1, strategy="STRICT_SPREAD"), None),
        (bundles(0, 2, 2), ("a", "a", "b")),
        (bundles(1, 2, 1), ("b", "a", "b")),
        (bundles(2.5, 1), None),
    ],
)  # fmt: skip
def test_strategies(demand, nodes):
    placement = Ledger(TWO).place("x", demand)
    assert (placement and placement.nodes) == nodes


def test_bundles_take_back_what_they_tried():
    """Only `a` has a GPU, and the bundle without one is tried there first."""
    ledger = Ledger({"a": {"cpu": 2, "gpu": 1}, "b": {"cpu": 2}})
    demand = Resources.of([{"cpu": 2}, {"cpu": 1, "gpu": 1}], "STRICT_SPREAD")
    assert ledger.place("x", demand).nodes == ("b", "a")
    ledger.release("x")
    assert ledger.free() == ledger.total()


def test_bundles_with_gpus_on_several_nodes():
    ledger = Ledger({"a": {"gpu": 1}, "b": {"gpu": 1}})
    placement = ledger.place("x", Resources.of([{"gpu": 1}, {"gpu": 1}]))
    assert placement == Placement(("a", "b"), (((0, 1.0),), ((0, 1.0),)))
    assert not ledger.fits(gpus(0.1))
    ledger.release("x")
    assert ledger.fits(gpus(1))


# --- capacity --------------------------------------------------------------------------


def test_what_is_placed_stays_on_the_books_of_nodes_that_remain():
    ledger = Ledger({"a": {"cpu": 2, "gpu": 1}})
    ledger.place("x", cpus(1, gpu=1))
    ledger.set_capacity({"a": {"cpu": 4, "gpu": 2}, "b": {"cpu": 1}})
    assert ledger.free() == {"cpu": 4.0, "gpu": 1.0}
    assert ledger.place("y", cpus(1, gpu=1)).gpus == (((1, 1.0),),)
    ledger.release("x")
    assert ledger.free() == {"cpu": 4.0, "gpu": 1.0}


def test_a_node_that_went_and_came_back_still_has_its_debts():
    ledger = Ledger(TWO)
    ledger.place("x", cpus(2))
    ledger.set_capacity({"b": {"cpu": 2}})
    assert ledger.total() == {"cpu": 2.0}
    ledger.set_capacity(TWO)
    assert ledger.place("y", cpus(2)).nodes == ("b",)
    assert not ledger.fits(cpus(1))
    ledger.release("x")
    assert ledger.free() == {"cpu": 2.0}


def test_a_demand_on_a_node_that_is_gone_is_released_without_a_trace():
    ledger = Ledger(TWO)
    ledger.place("x", cpus(2))
    ledger.set_capacity({"b": {"cpu": 2}})
    ledger.release("x")
    assert ledger.free() == ledger.total() == {"cpu": 2.0}


def test_nothing_fits_on_a_node_that_shrank_below_what_it_holds():
    ledger = Ledger({"a": {"cpu": 4, "gpu": 2}})
    ledger.place("x", cpus(2, gpu=2))
    ledger.set_capacity({"a": {"cpu": 1, "gpu": 1}})
    assert not ledger.fits(cpus(0.5))
    assert ledger.room(cpus(0.5)) == 0
    ledger.release("x")
    assert ledger.free() == {"cpu": 1.0, "gpu": 1.0}
    assert ledger.place("y", gpus(1)).gpus == (((0, 1.0),),)


def test_feasible_changes_with_capacity():
    ledger = Ledger({})
    assert not ledger.is_feasible(cpus(1))
    ledger.set_capacity({"a": {"cpu": 1}})
    assert ledger.is_feasible(cpus(1))
    assert ledger.fits(cpus(1))
    ledger.set_capacity({})
    assert not ledger.is_feasible(cpus(1))


# --- room ------------------------------------------------------------------------------


def test_room():
    ledger = Ledger({"a": {"cpu": 4, "gpu": 1}, "b": {"cpu": 3}})
    assert ledger.room(cpus(1)) == 7
    assert ledger.room(cpus(2)) == 3
    assert ledger.room(cpus(1, gpu=0.5)) == 2
    assert ledger.room(cpus(5)) == 0
    assert ledger.room(Resources.of([{"cpu": 3}, {"cpu": 3}])) == 1
    assert ledger.room(Resources.of({})) == 1_000
    assert ledger.room(Resources.of({"cpu": 1e-6})) == 1_000
    ledger.place("x", cpus(3))
    assert ledger.room(cpus(1)) == 4


def test_there_is_no_room_where_nothing_fits():
    ledger = Ledger({"a": {"gpu": 2}})
    ledger.place("x", gpus(0.6)), ledger.place("y", gpus(0.6))
    assert ledger.room(gpus(0.6)) == 0
    assert ledger.room(gpus(0.4)) == 2


# --- reservation -----------------------------------------------------------------------


def test_what_is_reserved_is_kept_as_it_becomes_free():
    ledger = Ledger({"a": {"cpu": 4}})
    ledger.place("x", cpus(1)), ledger.place("y", cpus(3))
    ledger.reserve("large", cpus(3))
    assert ledger.reserved_for == "large"
    ledger.release("x")
    assert not ledger.fits(cpus(1), "small")
    assert ledger.place("small", cpus(1)) is None
    assert not ledger.fits(cpus(3), "large")
    ledger.release("y")
    assert ledger.fits(cpus(1), "small")  # 4 are free and 3 are reserved
    assert not ledger.fits(cpus(2), "small")
    assert ledger.fits(cpus(3), "large")
    assert ledger.place("small", cpus(1)) is not None
    assert ledger.place("large", cpus(3)) is not None
    assert ledger.reserved_for is None
    assert ledger.free() == {"cpu": 0.0}


def test_a_reservation_leaves_other_nodes_alone():
    ledger = Ledger(TWO)
    ledger.place("x", cpus(1)), ledger.place("y", cpus(2))
    ledger.reserve("large", cpus(2))  # on a, which is emptier
    assert not ledger.fits(cpus(1))
    ledger.release("y")
    assert ledger.place("z", cpus(2)).nodes == ("b",)
    ledger.release("x")
    assert ledger.place("large", cpus(2)).nodes == ("a",)


def test_a_reserved_gpu_is_that_gpu():
    ledger = Ledger({"a": {"gpu": 2}})
    ledger.place("x", gpus(1)), ledger.place("y", gpus(0.5))
    ledger.reserve("large", gpus(2))
    assert not ledger.fits(gpus(0.5))
    ledger.unreserve("another")
    assert ledger.reserved_for == "large"
    ledger.unreserve("large")
    assert ledger.fits(gpus(0.5))


def test_a_reservation_follows_the_capacity():
    ledger = Ledger(TWO)
    ledger.reserve("large", cpus(2))
    ledger.set_capacity({"b": {"cpu": 2}})
    assert ledger.reserved_for == "large"
    assert not ledger.fits(cpus(1))
    ledger.set_capacity({"b": {"cpu": 1}})
    assert ledger.reserved_for is None
    assert ledger.fits(cpus(1))


def test_what_can_never_fit_reserves_nothing():
    ledger = Ledger(TWO)
    ledger.reserve("large", cpus(3))
    assert ledger.reserved_for is None


# --- messages --------------------------------------------------------------------------


def test_infeasible_names_what_was_asked_for_and_what_there_is():
    assert infeasible(cpus(8, memory="64GiB"), {"cpu": 2.0, "memory": 2.0**33}) == (
        "a trial asks for cpu 8, memory 64.00 GiB, but this machine has cpu 2, memory 8.00 GiB: "
        "ask for less, or use a larger machine"
    )
    assert "this machine has nothing" in infeasible(cpus(1), {})


def test_check_feasible():
    check_feasible(cpus(2), TWO)
    with pytest.raises(ResourceError, match="a trial asks for gpu 1, but this machine has cpu 4"):
        check_feasible(gpus(1), TWO)


def test_a_range_of_workers_is_feasible_if_its_smallest_size_is():
    cpu = (("cpu", 1.0),)
    check_feasible(Resources(((), *[cpu] * 4), workers=(1, 4)), {"local": {"cpu": 3}})
    with pytest.raises(ResourceError):
        check_feasible(Resources(((), *[cpu] * 4), workers=(4, 4)), {"local": {"cpu": 3}})
