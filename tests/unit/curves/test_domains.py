"""The space that recorded hyperparameters span."""

from __future__ import annotations

from overtone.curves.domains import inferred


def test_each_hyperparameter_gets_the_domain_of_its_values() -> None:
    space = inferred([
        {"lr": 1e-4, "units": 16, "layers": 1, "kind": "a", "fixed": 3, "width": 4},
        {"lr": 1e-1, "units": 17000, "layers": 5, "kind": "b", "fixed": 3, "width": 2.5},
    ])  # fmt: skip
    shown = {name: type(one).__name__ for name, one in space.items()}
    assert shown == {
        "lr": "Float", "units": "Integer", "layers": "Integer", "kind": "Categorical", "fixed": "Categorical",
        "width": "Float",
    }  # fmt: skip
    assert space["lr"].is_valid(1e-3)
    assert repr(space["lr"]).startswith("loguniform")
    assert repr(space["layers"]).startswith("randint")
