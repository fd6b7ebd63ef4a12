"""Configs as the recorded space says."""

from overtone import tune
from overtone.analysis.recorded_codec import recorded_codec
from overtone.core.messages import Added, Record, Tick
from overtone.core.resources import Resources
from overtone.journal.codec import Codec
from overtone.space import encode_config, space_to_data


def read_back(space, config):
    """The config after its way through a journal, which a header describes."""
    added = Added("t", 0, config, Resources.of({"cpu": 1}), "0")
    line = Codec(lambda one: encode_config(space, one)).encode(Record(1, Tick(0.0), (added,)))
    codec = recorded_codec({"parts": {"space": space_to_data(space)}})
    return codec.decode(line[: line.rindex(b',"crc"')] + b"}").choices[0].config


def test_tuples_are_tuples_again():
    space = {"sizes": (64, 64), "layers": tune.choice([(1, 2), (3,)]), "x": tune.uniform(0, 1)}
    config = {"sizes": (64, 64), "layers": (3,), "x": 0.5}
    assert read_back(space, config) == config


def test_plain_configs_stay():
    assert read_back({"x": tune.choice([1])}, {"x": 1}) == {"x": 1}
    assert recorded_codec({})._decode_config is None


def test_what_is_no_data_stays_described():
    space = {"kind": dict, "sizes": (1, 2)}
    found = read_back(space, {"kind": dict, "sizes": (1, 2)})
    assert found["kind"]["shown"] == "builtins.dict"


def test_a_config_that_is_not_of_the_space_stays():
    config = {"sizes": [1, {"__opaque__": "made up"}]}
    codec = recorded_codec({"parts": {"space": space_to_data({"sizes": (1, 2)})}})
    assert codec._decode_config(config) == config
