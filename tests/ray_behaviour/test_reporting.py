"""What a trial says, and what it knows about itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from subject import covers, part, train, tune


def lines(trial) -> list[dict]:
    return [json.loads(line) for line in Path(trial.path, "result.json").read_text().splitlines()]


@covers("tune.report: metrics")
def test_each_report_is_a_result(search):
    def reports(config):
        for step in range(3):
            tune.report({"score": step, "nested": {"deep": step}})

    (trial,) = search(reports).trials
    assert [line["score"] for line in lines(trial)] == [0, 1, 2]
    assert lines(trial)[2]["nested"] == {"deep": 2}
    assert trial.last_result["training_iteration"] == 3


@covers("tune.report: checkpoint", "tune.Checkpoint.from_directory: path", "tune.Checkpoint.to_directory: path",
        "tune.Checkpoint.as_directory", "tune.get_checkpoint")  # fmt: skip
def test_a_checkpoint_comes_back_after_a_failure(search, tmp_path):
    def fails_once(config):
        import tempfile

        start, checkpoint = 0, tune.get_checkpoint()
        if checkpoint:
            with checkpoint.as_directory() as folder:
                start = json.loads(Path(folder, "state.json").read_text())["step"] + 1
        for step in range(start, 4):
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "state.json").write_text(json.dumps({"step": step}))
                tune.report({"step": step, "start": start}, checkpoint=tune.Checkpoint.from_directory(folder))
            if step == 1 and start == 0:
                raise RuntimeError("once")

    (trial,) = search(fails_once, max_failures=1).trials
    assert trial.last_result["start"] == 2
    folder = trial.checkpoint.to_directory(str(tmp_path / "copy"))
    assert json.loads(Path(folder, "state.json").read_text()) == {"step": 3}


@covers("tune.get_checkpoint")
def test_a_new_trial_has_no_checkpoint(search):
    def looks(config):
        return {"none": tune.get_checkpoint() is None}

    assert search(looks).trials[0].last_result["none"] is True


@covers("train.report: metrics checkpoint", "train.get_checkpoint", "train.Checkpoint.from_directory: path")
def test_the_names_of_train_work_in_trials(search, tmp_path):
    def reports(config):
        import tempfile

        assert train.get_checkpoint() is None
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "file").write_text("mine")
            train.report(
                {"score": 5}, checkpoint=train.Checkpoint.from_directory(folder), checkpoint_dir_name=None
            )

    (trial,) = search(reports).trials
    assert trial.last_result["score"] == 5
    assert (Path(trial.checkpoint.path) / "file").read_text() == "mine"


@covers("tune", "train", "tune.get_context", "tune.TuneContext", "train.TrainContext.get_trial_id", "train.TrainContext.get_trial_name",
        "train.TrainContext.get_trial_dir", "train.TrainContext.get_experiment_name", "train.TrainContext.get_trial_resources")  # fmt: skip
@pytest.mark.parametrize("home", ["tune", "train"])
def test_a_trial_knows_itself(search, home):
    home = part(home)

    def told(config):
        context = home.get_context()
        return {
            "id": context.get_trial_id(),
            "name": context.get_trial_name(),
            "dir": context.get_trial_dir(),
            "experiment": context.get_experiment_name(),
            "cpus": context.get_trial_resources().required_resources["CPU"],
        }

    (trial,) = search(told, name="mine", trial_name_creator=lambda trial: "the_name").trials
    result = trial.last_result
    assert result["id"] == trial.trial_id
    assert result["name"] == "the_name"
    assert Path(result["dir"]).name == Path(trial.path).name
    assert result["experiment"] == "mine"
    assert result["cpus"] == 1


@covers("train.TrainContext.get_world_rank", "train.TrainContext.get_world_size", "train.TrainContext.get_local_rank",
        "train.TrainContext.get_local_world_size", "train.TrainContext.get_node_rank")  # fmt: skip
def test_a_trial_is_one_worker_or_has_no_ranks(search):
    def told(config):
        context = train.get_context()
        ranks = (
            context.get_world_size,
            context.get_world_rank,
            context.get_local_rank,
            context.get_local_world_size,
            context.get_node_rank,
        )
        try:
            return {"ranks": [rank() for rank in ranks]}
        except RuntimeError:
            return {"ranks": None}

    assert search(told).trials[0].last_result["ranks"] in (None, [None] * 5, [1, 0, 0, 1, 0])


@covers("train.TrainContext.get_storage", "tune.TuneContext.get_storage")
def test_a_context_has_storage_and_metadata(search):
    def told(config):
        context = train.get_context()
        return {"storage": context.get_storage().experiment_dir_name}

    assert search(told, name="mine").trials[0].last_result["storage"] == "mine"


@covers("tune.context.TuneContext", "tune.context.get_context")
def test_the_context_has_a_module_of_its_own(search):
    def told(config):
        context = part("tune.context").get_context()
        return {"id": context.get_trial_id(), "is_one": isinstance(context, part("tune.context").TuneContext)}

    (trial,) = search(told).trials
    assert (trial.last_result["id"], trial.last_result["is_one"]) == (trial.trial_id, True)


@covers("train.report: checkpoint_dir_name")
def test_a_checkpoint_of_a_trial_is_named_by_its_number(search, tmp_path):
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "model").write_text("weights")

    def reports(config):
        checkpoint = train.Checkpoint.from_directory(str(saved))
        train.report({"score": 5}, checkpoint=checkpoint, checkpoint_dir_name="mine")

    (trial,) = search(reports).trials
    assert Path(trial.checkpoint.path).name.startswith("checkpoint_0")
    assert trial.last_result.get("checkpoint_dir_name") != "mine"


@covers("tune.trainable.trainable_fn_utils.Checkpoint", "tune.trainable.trainable_fn_utils.get_checkpoint",
        "tune.trainable.trainable_fn_utils.report")  # fmt: skip
def test_the_functions_of_trials_have_a_module(search, tmp_path):
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "model").write_text("weights")

    def trains(config):
        names = part("tune.trainable.trainable_fn_utils")
        begins = names.get_checkpoint() is None
        names.report({"begins": begins}, checkpoint=names.Checkpoint.from_directory(str(saved)))

    (trial,) = search(trains).trials
    assert trial.last_result["begins"] is True
    assert Path(trial.checkpoint.path, "model").read_text() == "weights"


@covers("tune.get_context", "tune.report")
def test_there_is_no_context_of_a_trial_outside():
    assert tune.get_context().get_trial_id() is None


@covers("tune.result.DEFAULT_RESULT_KEYS", "tune.result.TRAINING_ITERATION", "tune.result.TIME_TOTAL_S", "tune.result.TRIAL_ID",
        "tune.result.TIMESTAMP", "tune.result.TIME_THIS_ITER_S", "tune.result.PID", "tune.result.HOSTNAME", "tune.result.NODE_IP", "tune.result.DONE",
        "tune.result.EXPERIMENT_TAG")  # fmt: skip
def test_results_have_the_automatic_keys(search):
    result = part("tune.result")

    def reports(config):
        tune.report({"score": 1})
        tune.report({"score": 2})

    (trial,) = search(reports).trials
    last = trial.last_result
    assert last[result.TRAINING_ITERATION] == 2
    assert last[result.TIME_TOTAL_S] >= last[result.TIME_THIS_ITER_S] >= 0
    assert last[result.TRIAL_ID] == trial.trial_id
    assert last[result.DONE] in (True, False)
    keys = (result.TIMESTAMP, result.PID, result.HOSTNAME, result.NODE_IP, result.EXPERIMENT_TAG)
    assert [key for key in keys if key not in last] == []
    assert {"date", "iterations_since_restore", "time_since_restore", "config"} <= set(last)


@covers("tune.result.TIMESTEPS_THIS_ITER", "tune.result.TIMESTEPS_TOTAL", "tune.result.MEAN_ACCURACY")
def test_steps_are_added_up(search):
    result = part("tune.result")

    class Steps(tune.Trainable):
        def step(self):
            return {result.TIMESTEPS_THIS_ITER: 10, result.MEAN_ACCURACY: 1, "done": self.iteration >= 2}

    (trial,) = search(Steps).trials
    assert trial.last_result[result.TIMESTEPS_TOTAL] == 30


@covers(
    "tune.result.EPISODES_THIS_ITER",
    "tune.result.EPISODES_TOTAL",
    "tune.result.EPISODE_REWARD_MEAN",
    "tune.result.MEAN_LOSS",
)
def test_episodes_are_added_up(search):
    result = part("tune.result")

    class Steps(tune.Trainable):
        def step(self):
            return {result.EPISODES_THIS_ITER: 2, "done": self.iteration >= 2}

    (trial,) = search(Steps).trials
    assert trial.last_result[result.EPISODES_TOTAL] == 6


@covers("tune.result.SHOULD_CHECKPOINT")
def test_a_class_asks_for_a_checkpoint(search):
    should_checkpoint = part("tune.result").SHOULD_CHECKPOINT

    class Asks(tune.Trainable):
        def step(self):
            return {should_checkpoint: self.iteration == 1, "done": self.iteration >= 3}

        def save_checkpoint(self, checkpoint_dir):
            Path(checkpoint_dir, "file").write_text(str(self.iteration))

        def load_checkpoint(self, checkpoint):
            pass

    (trial,) = search(Asks, checkpoint_freq=0, checkpoint_at_end=False).trials
    assert len(list(Path(trial.path).glob("checkpoint_*"))) == 1


@covers(
    "tune.result.EXPR_RESULT_FILE",
    "tune.result.EXPR_PROGRESS_FILE",
    "tune.result.EXPR_PARAM_FILE",
    "tune.result.EXPR_PARAM_PICKLE_FILE",
)
def test_a_trial_has_files(search):
    result = part("tune.result")

    def reports(config):
        tune.report({"score": 1})

    (trial,) = search(reports, config={"x": 3}).trials
    folder = Path(trial.path)
    names = [result.EXPR_RESULT_FILE, result.EXPR_PROGRESS_FILE, result.EXPR_PARAM_FILE]
    assert names == ["result.json", "progress.csv", "params.json"]
    assert [name for name in names if not (folder / name).exists()] == []
    assert json.loads((folder / "params.json").read_text()) == {"x": 3}


@covers("tune.result.EXPR_ERROR_FILE")
def test_a_failed_trial_has_a_file_with_its_traceback(search):
    def fails(config):
        raise ZeroDivisionError("broken")

    (trial,) = search(fails, raise_on_failed_trial=False).trials
    text = Path(trial.path, part("tune.result").EXPR_ERROR_FILE).read_text()
    assert "ZeroDivisionError: broken" in text


@covers("tune.run: run_or_experiment")
def test_a_returned_dict_is_the_last_result(search):
    def returns(config):
        tune.report({"score": 1})
        return {"score": 2}

    assert search(returns).trials[0].last_result["score"] == 2


@covers("tune.run: run_or_experiment")
def test_a_generator_yields_results(search):
    def yields(config):
        yield {"score": 1}
        yield {"score": 2}

    (trial,) = search(yields).trials
    assert trial.last_result["score"] == 2
    assert trial.last_result["training_iteration"] == 2


@covers("tune.run: run_or_experiment")
def test_a_function_may_end_without_a_report(search):
    def silent(config):
        pass

    (trial,) = search(silent).trials
    assert trial.status == "TERMINATED"


@covers("tune.run: run_or_experiment")
def test_a_returned_number_is_a_metric(search):
    def returns(config):
        return 4.5

    assert search(returns).trials[0].last_result["_metric"] == 4.5


@covers("tune.result.DEFAULT_METRIC")
def test_the_metric_of_a_returned_number_has_a_name():
    assert part("tune.result").DEFAULT_METRIC == "_metric"


@covers("tune.Checkpoint: path filesystem")
def test_a_checkpoint_has_its_path_and_filesystem(tmp_path):
    (tmp_path / "file").write_text("mine")
    checkpoint = tune.Checkpoint(str(tmp_path))
    assert checkpoint.path == str(tmp_path)
    assert type(checkpoint.filesystem).__name__ == "LocalFileSystem"
    LocalFileSystem = pytest.importorskip("pyarrow.fs").LocalFileSystem

    assert tune.Checkpoint(str(tmp_path), filesystem=LocalFileSystem()).path == str(tmp_path)


@covers(
    "tune.Checkpoint.get_metadata",
    "tune.Checkpoint.set_metadata: metadata",
    "tune.Checkpoint.update_metadata: metadata",
)
@pytest.mark.parametrize("home", ["tune", "train"])
def test_a_checkpoint_has_metadata(tmp_path, home):
    checkpoint = part(home).Checkpoint.from_directory(str(tmp_path))
    assert checkpoint.get_metadata() == {}
    checkpoint.set_metadata({"a": 1})
    checkpoint.update_metadata({"b": 2})
    assert part(home).Checkpoint.from_directory(str(tmp_path)).get_metadata() == {"a": 1, "b": 2}


@covers("tune.Checkpoint.to_directory: path")
def test_a_checkpoint_is_copied(tmp_path):
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "file").write_text("mine")
    checkpoint = tune.Checkpoint.from_directory(str(tmp_path / "from"))
    assert Path(checkpoint.to_directory(), "file").read_text() == "mine"
    assert Path(checkpoint.to_directory(str(tmp_path / "to")), "file").read_text() == "mine"
    with checkpoint.as_directory() as folder:
        assert Path(folder, "file").read_text() == "mine"


@covers("tune.report: metrics")
def test_metrics_are_a_dict(search):
    def wrong(config):
        tune.report(5)

    with pytest.raises(tune.TuneError):
        search(wrong)


@covers("train.get_dataset_shard: dataset_name")
def test_a_trial_without_workers_has_no_dataset(search):
    def asks(config):
        try:
            return {"none": train.get_dataset_shard("train") is None}
        except Exception:
            return {"none": True}

    assert search(asks).trials[0].last_result["none"] is True
