"""The domains of a space as a journal has it."""

from __future__ import annotations

from overtone import tune
from overtone.reading.columns.written_domains import MOST_OPTIONS, domains, log_parameters
from overtone.space.data import space_to_data

BRANCHES = [
    {"type": "mlp", "width": tune.qrandint(4, 8)},
    {"type": "cnn", "width": tune.lograndint(2, 20), "lr": tune.loguniform(1e-3, 1)},
]
SPACE = {
    "x": tune.uniform(0, 1), "act": tune.choice(["relu", None, True]), "batch": tune.grid_search([16, 32]),
    "net": tune.choice(BRANCHES), "constant": 3, "sum": tune.sample_from(lambda _: 1), "class": tune.choice([int]),
    "prior": tune.normal_prior(tune.randint(0, 5), 2), "many": tune.choice(range(MOST_OPTIONS + 1)),
}  # fmt: skip


def test_domains_of_all_branches_are_told():
    found = {one.pop("name"): tuple(one.values()) for one in domains(space_to_data(SPACE))}
    assert found == {
        "x": (0, 1, False, []),
        "act": (None, None, False, ["relu", None, True]),
        "batch": (None, None, True, [16, 32]),
        "net/type": (None, None, False, ["mlp", "cnn"]),
        "net/width": (2, 19, True, []),
        "net/lr": (0.001, 1, False, []),
        "prior": (0, 4, True, []),
        "many": (None, None, True, []),
    }


def test_logarithmic_parameters_of_all_branches_are_told():
    assert log_parameters(space_to_data(SPACE)) == {"net/width", "net/lr"}


def test_what_is_not_a_space_has_no_domains():
    assert domains(None) == []
    assert (
        domains({"__constraint__": {"__opaque__": "f"}, "a": {"__domain__": 3, "lower": "x"}})[0]["low"]
        is None
    )
