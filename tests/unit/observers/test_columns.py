from __future__ import annotations

import pytest

from overtone.observers.columns import added, chosen, headed, inferred_metrics, varying


def test_chosen_skips_what_a_conditional_config_lacks() -> None:
    config = {"kind": "svm", "svm": {"c": 1.0}, "epochs": 5}
    assert chosen(config, ["kind", "svm/c", "forest/depth"]) == {"kind": "svm", "svm/c": 1.0}
    assert chosen(config, None) == {"kind": "svm", "svm/c": 1.0, "epochs": 5}


def test_varying_leaves_out_constants() -> None:
    configs = [{"lr": 0.1, "gpu": True}, {"lr": 0.2, "gpu": True, "extra": 1}]
    assert varying(configs) == ["lr", "extra"]
    assert varying(configs[:1]) == ["lr", "gpu"]
    assert varying([]) == []


def test_inferred_metrics_are_the_user_s_numbers_in_their_order() -> None:
    results = [{"b": 1, "training_iteration": 1, "name": "x", "flag": True, "a": 2.0}, {"c": 1, "d": 2}]
    assert inferred_metrics(results, 3) == ["b", "a", "c"]
    assert inferred_metrics(results, 3, known=["b"]) == ["a", "c", "d"]


def test_columns_are_names_or_names_with_headers() -> None:
    assert headed(["a"]) == {"a": "a"}
    assert headed({"a": "A"}) == {"a": "A"}
    assert added({"a": "A"}, "b", None, "metric") == {"a": "A", "b": "b"}
    with pytest.raises(ValueError, match="'a' is there already"):
        added(["a"], "a", "A", "metric")
