from __future__ import annotations

import math
import sys

import pytest

from overtone.analysis.frames import TrialFrames, flatten, frame
from overtone.errors import MissingPackageError


def test_nested_mappings_are_spelled_out_and_empty_ones_kept():
    assert flatten({"a": 1, "config": {"opt": {"lr": 2}, "none": {}}, "list": [1, {"x": 1}]}) == {
        "a": 1,
        "config/opt/lr": 2,
        "config/none": {},
        "list": [1, {"x": 1}],
    }


def test_what_is_no_data_is_shown_by_its_description():
    place = {"__space__": "act", "index": 1, "shown": "torch.nn.Tanh"}
    assert flatten({"config": {"act": place}}) == {"config/act": "torch.nn.Tanh"}


def test_columns_are_all_keys_in_the_order_in_which_they_appear():
    made = frame([{"a": 1, "b": 2}, {"a": 3, "c": 4}])
    assert list(made.columns) == ["a", "b", "c"]
    assert math.isnan(made["b"][1])
    assert made["a"].tolist() == [1, 3]


def test_an_index_is_there_even_without_rows():
    made = frame([], index="trial_id")
    assert made.index.name == "trial_id"
    assert len(made) == 0


def test_without_pandas_the_error_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r'pip install "overtone\[pandas\]"'):
        frame([{"a": 1}])


def test_a_trials_frame_is_made_when_it_is_looked_at_and_once():
    asked = []
    frames = TrialFrames(
        {"/exp/a": "a", "/exp/b": "b"}, lambda trial_id: asked.append(trial_id) or trial_id.upper()
    )
    assert list(frames) == ["a", "b"]
    assert isinstance(frames, dict)
    assert "/exp/a" in frames
    assert "a" in frames
    assert "c" not in frames
    assert (len(frames), asked) == (2, [])
    assert frames["/exp/b"] == frames["b"] == frames.get("b") == "B"
    assert asked == ["b"]
    assert dict(frames) == dict(frames.items()) == {"a": "A", "b": "B"}
    assert list(frames.values()) == ["A", "B"]
    assert asked == ["b", "a"]


def test_another_key_is_a_key_error():
    with pytest.raises(KeyError, match="c"):
        TrialFrames({"/exp/a": "a"}, str)["c"]
