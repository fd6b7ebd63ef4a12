"""A trainable without a model."""

import pytest

from overtone import tune
from overtone.tune.registry import registered
from overtone.tune.utils.mock_trainable import (
    MOCK_ERROR_KEY,
    MOCK_TRAINABLE_NAME,
    MyTrainableClass,
    register_mock_trainable,
)


def test_its_reward_rises_along_a_curve(tmp_path):
    register_mock_trainable()
    assert registered(MOCK_TRAINABLE_NAME) is MyTrainableClass
    found = tune.run(
        MOCK_TRAINABLE_NAME, config={"width": 2, "height": 3}, stop={"training_iteration": 3}, engine="inline",
        storage_path=tmp_path, verbose=0, tensorboard=False,
    )  # fmt: skip
    reward = found.trials[0].last_result["episode_reward_mean"]
    assert reward == pytest.approx(3 * 0.9051482536)


def test_it_raises_once_where_that_is_asked_for(tmp_path):
    trainable = MyTrainableClass({MOCK_ERROR_KEY: True})
    trainable.step()
    trainable.save_checkpoint(str(tmp_path))
    with pytest.raises(RuntimeError, match="mock_error"):
        trainable.step()
    again = MyTrainableClass({MOCK_ERROR_KEY: True})
    again.load_checkpoint(str(tmp_path))
    assert again.step()["episode_reward_mean"] > 0.9
    persistent = MyTrainableClass({MOCK_ERROR_KEY: True, "persistent_error": True})
    persistent.load_checkpoint(str(tmp_path))
    with pytest.raises(RuntimeError):
        persistent.step()
