from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from typing import Any

import pytest

from overtone.core.messages import Added
from overtone.core.resources import Resources
from overtone.core.table import Row, constant_facts
from overtone.observers.files.constant_text import ConstantTexts, constant_text, params_text
from overtone.space import flatten


def row(config: Mapping[str, Any], tag: str = "0_lr=0.1,x=1") -> Row:
    made = Row(Added("t_00000", 0, config, Resources(((),)), tag))
    made.pid, made.hostname, made.node = 7, "host", "local"
    return made


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError


CONFIGS = [
    {"lr": 0.1, "n": -3, "flag": True, "none": None, "name": 'a "b", c\n%s', "100%": "%d"},
    {"a": math.nan, "b": math.inf, "c": -math.inf, "d": 1e300, "e": -0.0},
    {"net": {"width": 8, "empty": {}}, "list": [1, 2.5], "x": 1},
    {"\ud800": "\udfff", "\u00e9": "\u2028"},
    {},
]


@pytest.mark.parametrize("config", CONFIGS)
def test_all_texts_say_the_same(config: dict[str, Any]) -> None:
    trial = row(config)
    text = constant_text(trial)
    expected = {**constant_facts(trial), "config": config}
    assert text.ending[0] == ","
    assert text.ending[-2:] == "}\n"
    assert repr(json.loads("{" + text.ending[1:])) == repr(expected)
    assert repr(json.loads(text.params)) == repr(config)
    assert text.params == params_text(config)
    flat = flatten(expected)
    assert text.names == tuple(flat)
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerow(flat.values())
    assert next(csv.reader([text.cells[1:]])) == next(csv.reader(io.StringIO(written.getvalue(), newline="")))


def test_numbers_as_names_and_objects_as_values() -> None:
    text = constant_text(row({1: 2, "x": Odd()}))
    assert json.loads("{" + text.ending[1:])["config"]["1"] == 2
    assert json.loads(text.params)["1"] == 2
    assert text.cells.endswith(',2,"<Odd, whose repr raised RuntimeError>"')


def test_a_text_is_made_once_for_an_attempt_and_a_config() -> None:
    texts, trial = ConstantTexts(), row({"lr": 0.1})
    first = texts.of(trial)
    assert texts.of(trial) is first
    trial.config = {"lr": 0.2}
    assert texts.of(trial).cells.endswith(",0.2")
    trial.attempt, trial.pid = 1, 8
    assert ",8,host," in texts.of(trial).cells
    second = texts.of(trial)
    texts.forget(trial.id)
    texts.forget(trial.id)
    assert texts.of(trial) is not second
