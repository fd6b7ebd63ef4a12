"""Configs without their space."""

import json

from overtone import tune
from overtone.reading.recorded_config import with_tuples
from overtone.space import encode_config


def test_tuples_are_tuples_again():
    space = {"sizes": (64, 64), "net": tune.choice([{"layers": tune.choice([(1, (2,)), []])}])}
    config = {"sizes": (64, 64), "net": {"layers": (1, (2,))}, "x": [0.5, None]}
    assert with_tuples(json.loads(json.dumps(encode_config(space, config)))) == config


def test_what_is_no_data_stays_described():
    found = with_tuples(encode_config({"kind": dict}, {"kind": dict}))
    assert found["kind"]["shown"] == "builtins.dict"
