"""Data becomes JSON text."""

import json
import math

import pytest

from overtone.core.json_encoder import encoder

DATA = {"a": [1, 2.5, None, True, 'ü\n"\\', {"b": {}}], "": -0.0, "big": 2**70, "small": 1e-300, "t": (1, 2)}


def test_it_is_the_text_that_json_writes_without_spaces():
    assert encoder()(DATA) == json.dumps(DATA, separators=(",", ":"))
    assert encoder()("text") == '"text"'
    assert encoder()(3) == "3"


@pytest.mark.parametrize("is_spaced", [False, True])
@pytest.mark.parametrize("sort_keys", [False, True])
def test_it_may_have_spaces_and_sorted_names(is_spaced, sort_keys):
    separators = (", ", ": ") if is_spaced else (",", ":")
    expected = json.dumps(DATA, separators=separators, sort_keys=sort_keys)
    assert encoder(is_spaced=is_spaced, sort_keys=sort_keys)(DATA) == expected


def test_numbers_that_json_does_not_have():
    with pytest.raises(ValueError, match="not JSON compliant"):
        encoder()({"a": math.nan})
    assert encoder(allow_nan=True)([math.nan, -math.inf]) == "[NaN,-Infinity]"


def test_what_is_no_data():
    with pytest.raises(TypeError, match="set is not JSON serializable"):
        encoder()({"a": {1}})
    assert encoder(sorted)({"a": {2, 1}}) == '{"a":[1,2]}'


def test_without_the_accelerator(monkeypatch):
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    assert encoder(sorted)({"a": {2, 1}, "b": 1.5}) == '{"a":[1,2],"b":1.5}'
