"""Results are mappings over their metrics."""

from overtone.core.types import WORST, Result


def test_a_result_is_a_mapping():
    result = Result(3, 0.5, (0.5,), (), {"acc": 0.5, "training_iteration": 3})
    assert result["acc"] == 0.5
    assert dict(result) == {"acc": 0.5, "training_iteration": 3}
    assert len(result) == 2
    assert "loss" not in result
    assert result.get("loss") is None


def test_who_rules_on_it():
    assert Result(1, 0.5, (0.5,)).is_ruled
    assert not Result(1, WORST).is_ruled
