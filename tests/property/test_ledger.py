"""The ledger against a model: nodes that come, go and shrink; bundles, GPUs and reservations."""

from collections import Counter
from itertools import product

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from overtone.core.ledger import UNIT, Ledger
from overtone.core.resources import Resources

cpus = st.sampled_from([0, 0.1, 0.25, 1 / 3, 0.5, 1, 1, 2, 3])
gpus = st.sampled_from([0, 0, 0, 0.1, 1 / 3, 0.5, 0.5, 1, 1, 2])
bundles = st.builds(
    lambda cpu, gpu, x: {"cpu": cpu, "gpu": gpu, "x": x}, cpus, gpus, st.sampled_from([0, 0, 1])
)
demands = st.builds(
    Resources.of,
    st.lists(bundles, min_size=1, max_size=3),
    st.sampled_from(["PACK", "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD"]),
)
sizes = st.fixed_dictionaries(
    {"cpu": st.sampled_from([0, 0.5, 1, 2, 4]), "gpu": st.sampled_from([0, 0, 1, 2])},
    optional={"x": st.just(2)},
)
capacities = st.dictionaries(st.sampled_from("abc"), sizes, max_size=3)


def units(amount):
    return round(amount * UNIT)


def held(placed):
    """By node: units by resource name, and by ("gpu", index)."""
    sums = {}
    for resources, placement in placed:
        for bundle, node, devices in zip(resources.bundles, placement.nodes, placement.gpus, strict=True):
            for name, amount in (*bundle, *((("gpu", index), share) for index, share in devices)):
                at = sums.setdefault(node, {})
                at[name] = at.get(name, 0) + units(amount)
    return sums


class Books(RuleBasedStateMachine):
    owners = Bundle("owners")

    @initialize(nodes=capacities)
    def begin(self, nodes):
        self.nodes = nodes
        self.ledger = Ledger(nodes)
        self.placed = {}
        self.since_reservation = set()
        self.n = 0

    def there(self, node, name):
        if isinstance(name, tuple):
            return UNIT if name[1] < self.nodes.get(node, {}).get("gpu", 0) else 0
        return units(self.nodes.get(node, {}).get(name, 0))

    def put(self, owner, demand):
        before = self.ledger.free()
        fits = self.ledger.fits(demand, owner)
        placement = self.ledger.place(owner, demand)
        assert fits == (placement is not None)
        if placement is None:
            assert self.ledger.free() == before
            return False
        assert self.ledger.is_feasible(demand)
        self.placed[owner] = (demand, placement)
        for node, amounts in held(self.placed.values()).items():
            mine = held([(demand, placement)]).get(node, {})
            for name in mine:
                assert amounts[name] <= self.there(node, name), "more is in use than there is"
        for bundle, devices in zip(demand.bundles, placement.gpus, strict=True):
            assert sum(units(share) for _, share in devices) == units(dict(bundle).get("gpu", 0))
            assert len(devices) < 2 or all(share == 1 for _, share in devices)
        if demand.strategy == "STRICT_PACK":
            assert len(set(placement.nodes)) == 1
        if demand.strategy == "STRICT_SPREAD":
            assert len(set(placement.nodes)) == len(placement.nodes)
        return True

    @rule(target=owners, demand=demands)
    def place(self, demand):
        self.n += 1
        owner = f"trial {self.n}"
        is_free = self.ledger.reserved_for is None
        could = any(self.could_hold(node, demand.bundles[0]) for node in self.nodes)
        if self.put(owner, demand):
            self.since_reservation.add(owner)
            assert len(demand.bundles) > 1 or could
        elif is_free and len(demand.bundles) == 1:
            assert not could, "it would have fitted"
        elif is_free and not demand.total().get("gpu"):
            assert not any(
                self.could_lie(demand, nodes) for nodes in product(self.nodes, repeat=len(demand.bundles))
            )
        return owner

    def could_lie(self, demand, nodes):
        """Whether bundles without GPUs fit on just these nodes."""
        if demand.strategy == "STRICT_PACK" and len(set(nodes)) > 1:
            return False
        if demand.strategy == "STRICT_SPREAD" and len(set(nodes)) < len(nodes):
            return False
        sums = Counter()
        for bundle, node in zip(demand.bundles, nodes, strict=True):
            for name, amount in bundle:
                sums[node, name] += units(amount)
        used = held(self.placed.values())
        return all(self.there(*at) - used.get(at[0], {}).get(at[1], 0) >= n for at, n in sums.items())

    def could_hold(self, node, bundle):
        used = held(self.placed.values()).get(node, {})

        def free(name):
            return self.there(node, name) - used.get(name, 0)

        gpu = units(dict(bundle).get("gpu", 0))
        devices = [free(("gpu", index)) for index in range(int(self.nodes[node].get("gpu", 0)))]
        whole = sum(one == UNIT for one in devices)
        fits_gpu = gpu == 0 or (max(devices, default=0) >= gpu if gpu < UNIT else whole * UNIT >= gpu)
        return fits_gpu and all(free(name) >= units(amount) for name, amount in bundle)

    @rule(owner=consumes(owners))
    def release(self, owner):
        self.ledger.release(owner)
        self.placed.pop(owner, None)
        self.since_reservation.discard(owner)

    @rule(nodes=capacities)
    def change(self, nodes):
        self.nodes = nodes
        self.ledger.set_capacity(nodes)
        self.since_reservation.clear()  # the reservation may lie elsewhere now

    @rule(demand=demands)
    def reserve(self, demand):
        self.ledger.reserve("large", demand)
        self.since_reservation.clear()
        assert (self.ledger.reserved_for == "large") == self.ledger.is_feasible(demand)

    @rule()
    def unreserve(self):
        self.ledger.unreserve("large")
        assert self.ledger.reserved_for is None

    @rule()
    def claim(self):
        """Once those that were there before the reservation are gone, its owner fits."""
        if self.ledger.reserved_for is None:
            return
        _, demand, _ = self.ledger._reserved
        for owner in list(self.placed):
            if owner not in self.since_reservation:
                self.release_quietly(owner)
        assert self.put("large", demand)
        assert self.ledger.reserved_for is None
        self.release_quietly("large")

    def release_quietly(self, owner):
        self.ledger.release(owner)
        del self.placed[owner]
        self.since_reservation.discard(owner)

    @invariant()
    def the_books_balance(self):
        if not hasattr(self, "ledger"):
            return
        in_use = held(self.placed.values())
        for name in ("cpu", "gpu", "x"):
            there = sum(self.there(node, name) for node in self.nodes)
            used = sum(in_use.get(node, {}).get(name, 0) for node in self.nodes)
            assert units(self.ledger.free().get(name, 0.0)) == there - used
            assert units(self.ledger.total().get(name, 0.0)) == there
        assert len(self.ledger) == len(self.placed)

    def teardown(self):
        if not hasattr(self, "ledger"):
            return
        for owner in list(self.placed):
            self.ledger.release(owner)
        assert {name: n for name, n in self.ledger.free().items() if n} == {
            name: n for name, n in self.ledger.total().items() if n
        }


TestBooks = Books.TestCase
TestBooks.settings = settings(deadline=None, max_examples=120, stateful_step_count=25)
