"""Criteria of `stop=` that no result ever has."""

import pytest

from overtone import tune


def train(config):
    for i in range(15):
        tune.report({"loss": config["x"] / (i + 1), **({"accuracy": 0.5} if i % 5 == 4 else {})})


def run(folder, **arguments):
    options = {"num_samples": 2, "metric": "loss", "mode": "min", "verbose": 0, "tensorboard": False}
    return tune.run(
        train,
        config={"x": tune.uniform(0, 1)},
        storage_path=str(folder),
        name="exp",
        **{**options, **arguments},
    )


def told(capfd):
    return [line for line in capfd.readouterr().err.splitlines() if "stop= waits for" in line]


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_one_warning_at_any_verbosity_and_none_again_in_a_resume(tmp_path, capfd, engine):
    found = run(tmp_path, stop={"asdf": 1}, engine=engine)
    assert [len(frame) for frame in found.trial_dataframes.values()] == [15, 15]
    (line,) = told(capfd)
    assert line.startswith("overtone: stop= waits for 'asdf', and no result so far has a number of that name")
    assert "the newest result has 'loss'" in line
    assert len(run(tmp_path, stop={"asdf": 1}, engine=engine, num_samples=4, resume=True).trials) == 4
    assert told(capfd) == []


def test_the_newest_result_is_named_with_all_its_metrics(tmp_path, capfd):
    tune.run(
        lambda config: tune.report({"wealth": 1, "luck": 2}), engine="inline", verbose=0, tensorboard=False,
        storage_path=str(tmp_path), stop={"asdf": 1},
    )  # fmt: skip
    (line,) = told(capfd)
    assert "the newest result has 'wealth', 'luck'" in line


def test_it_is_said_once_where_the_run_is_shown_as_well(tmp_path, capfd):
    run(tmp_path, stop={"acuracy": 1}, engine="inline", verbose=2)
    printed = capfd.readouterr()
    assert (printed.out + printed.err).count("stop= waits for 'acuracy'") == 1


def test_a_metric_of_each_fifth_epoch_is_no_cause_for_a_warning(tmp_path, capfd):
    run(tmp_path, stop={"accuracy": 1, "training_iteration": 99}, engine="inline")
    assert told(capfd) == []


def test_a_simulated_run_says_it_too(tmp_path, capfd):
    def curve(config, t):
        return {"loss": config["x"] / t} if t < 20 else None

    tune.run(
        curve, config={"x": tune.uniform(0, 1)}, num_samples=2, engine=tune.Simulated(), verbose=0,
        storage_path=str(tmp_path), stop={"asdf": 1}, metric="loss", mode="min",
    )  # fmt: skip
    assert len(told(capfd)) == 1
