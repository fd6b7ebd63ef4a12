from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from overtone.cli.json_output import as_plain, at_home, line_of
from overtone.quantity_text import moment


def test_what_json_does_not_know_becomes_text():
    assert as_plain({"a": [math.nan, math.inf, -math.inf, 1.5, 7, True, None, (1,), Path("x")]}) == {
        "a": ["nan", "inf", "-inf", 1.5, 7, True, None, [1], "x"]
    }
    assert float(as_plain(-math.inf)) == -math.inf


def test_what_acts_on_a_terminal_is_escaped():
    assert line_of("\x1b\u202eé\udc80").isascii()
    assert json.loads(line_of("\x1b\u202eé")) == "\x1b\u202eé"


def test_moments():
    assert moment(1_790_000_000.0) == "2026-09-21T14:13:20Z"
    assert at_home(None) == ""
    assert len(at_home("2026-09-21T14:13:20Z")) == 16


@pytest.mark.parametrize("seconds", [None, "soon", math.nan, math.inf, 1e300])
def test_what_is_no_moment_is_none(seconds):
    assert moment(seconds) is None
