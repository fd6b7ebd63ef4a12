import json

import pytest

from overtone.core.randomness import keyed
from overtone.errors import SpaceError
from overtone.space import (
    choice,
    decode_config,
    describe,
    encode_config,
    grid_search,
    loguniform,
    randint,
    sample,
    sample_from,
    space_from_data,
    space_to_data,
    uniform,
)
from overtone.space.data import is_data_alone


class Net:
    pass


SPACE = {
    "lr": loguniform(1e-4, 1),
    "act": choice([len, Net, "relu", (1, 2), True, 1]),
    "opt": choice([{"cls": Net, "m": choice([sorted, 0.5])}, {"cls": Net, "x": uniform(0, 1)}]),
    "net": Net,
    "made": sample_from(lambda c: c.act),
    "n": [1, {"g": grid_search([dict, 2])}],
    "pair": (uniform(0, 1), 2),
    3: {4: choice([5])},
}


def test_configurations_survive_as_json():
    seen = set()
    for t in range(60):
        config = sample(SPACE, lambda key, t=t: keyed(1, key, str(t)))
        data = json.loads(json.dumps(encode_config(SPACE, config)))
        back = decode_config(SPACE, data)
        assert back == config
        assert type(back["act"]) is type(config["act"])
        seen.add(repr(config["act"]))
    assert len(seen) == 6


def test_what_is_no_data_is_given_by_its_place():
    config = {
        "lr": 0.1,
        "act": Net,
        "opt": {"cls": Net, "m": sorted},
        "net": Net,
        "made": Net,
        "n": [1, {"g": dict}],
    }
    data = encode_config(SPACE, config)
    assert data["lr"] == 0.1
    assert data["act"]["__space__"] == "act"
    assert data["act"]["index"] == 1
    assert data["act"]["shown"].endswith("test_data.Net")
    assert data["opt"]["m"] == {"__space__": "opt#0/m", "index": 0, "shown": "builtins.sorted"}
    assert "index" not in data["net"]
    assert data["n"][1]["g"]["__space__"] == "n/1/g"


def test_tuples_are_data():
    config = {"act": (1, 2), "pair": (0.5, 2), "made": (3, (4,))}
    data = json.loads(json.dumps(encode_config(SPACE, config)))
    assert data == {
        "act": {"__tuple__": [1, 2]}, "pair": {"__tuple__": [0.5, 2]},
        "made": {"__tuple__": [3, {"__tuple__": [4]}]},
    }  # fmt: skip
    assert decode_config(SPACE, data) == config


def test_picks_within_picks_have_places_of_their_own():
    space = {"x": choice([dict, choice([len, choice([sorted, dict])])])}
    for value in (dict, len, sorted):
        data = json.loads(json.dumps(encode_config(space, {"x": value})))
        assert decode_config(space, data) == {"x": value}


def test_values_from_outside_the_space():
    np = pytest.importorskip("numpy")
    data = encode_config(SPACE, {"lr": np.float64(0.5), "new": [np.int64(3)], "act": object()})
    assert data["lr"] == 0.5
    assert type(data["lr"]) is float
    assert data["new"] == [3]
    assert data["act"] == {"__opaque__": "<object object>"}
    with pytest.raises(SpaceError, match="act: <object object> was no data"):
        decode_config(SPACE, data)
    with pytest.raises(SpaceError, match="act: the space has no place"):
        decode_config(SPACE, {"act": {"__space__": "act", "index": 9}})


def test_spaces_of_data_survive_as_json():
    space = {
        "a": uniform(0, 1), "g": {"grid_search": [1, [2]]}, "c": choice([{"x": choice([1, None])}, "s"]),
        "l": [1, {"b": loguniform(0.1, 1)}], "t": (1, uniform(0, 1)), "u": (3, 4),
    }  # fmt: skip
    assert space_from_data(json.loads(json.dumps(space_to_data(space)))) == space
    assert space_to_data(space)["a"] == {"__domain__": "uniform", "lower": 0, "upper": 1}


def test_spaces_with_other_things_say_which():
    with pytest.raises(
        SpaceError, match=r"act/0 \(builtins.len\).*; made .*lambda.*; n/1/g/0 \(builtins.dict\)"
    ):
        space_from_data(json.loads(json.dumps(space_to_data(SPACE))))


def test_descriptions_are_the_same_in_every_process():
    assert describe(object()) == "<object object>"
    assert describe(Net).endswith(".Net")


def test_an_object_that_cannot_be_shown_is_named() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    assert describe(Odd()) == "<Odd, whose repr raised RuntimeError>"


@pytest.mark.parametrize(
    "value",
    [10**5000, [1, 10**5000], {"deep": -(10**5000)}, choice([10**5000, 1]), grid_search([10**5000])],
    ids=["alone", "listed", "deep", "choice", "grid"],
)
def test_an_integer_that_no_journal_can_hold_is_refused(value) -> None:
    with pytest.raises(SpaceError, match=r"x.*: an integer of 16610 bits is too long"):
        space_to_data({"x": value})


def test_a_space_that_holds_itself_is_refused() -> None:
    circle: list[object] = [1]
    circle.append(circle)
    with pytest.raises(SpaceError, match="holds itself"):
        space_to_data({"x": circle})


@pytest.mark.parametrize(
    ("space", "is_data"),
    [
        ({}, True),
        (
            {
                "lr": loguniform(1e-4, 1e-1),
                "fixed": [1, {"a": None}],
                "b": {"c": choice(["x", 1, {"y": randint(0, 3)}])},
            },
            True,
        ),
        ({"grid": grid_search([1, 2]), "listed": [uniform(0, 1)]}, True),
        ({"kind": choice([1, len])}, False),
        ({"kind": choice([(1, 2)])}, False),
        ({"made": sample_from(lambda _: 1)}, False),
        ({"pair": (uniform(0, 1), 1)}, False),
        ({1: 2}, False),
        ({"a": {1: 2}}, False),
        ({"f": print}, False),
    ],
)
def test_spaces_whose_configs_are_data(space, is_data) -> None:
    assert is_data_alone(space) is is_data


def test_a_config_of_scalars_is_a_copy() -> None:
    config = {"x": 0.5, "n": 3, "flag": True, "none": None, "text": "a"}
    encoded = encode_config({"x": uniform(0, 1)}, config)
    assert encoded == config
    assert encoded is not config
