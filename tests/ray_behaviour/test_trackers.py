"""Callbacks for services that track experiments; modules of `stand_ins` note what the services are told."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

import pytest
from subject import covers, part, tune

STAND_INS = Path(__file__).parent / "stand_ins"


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch, tmp_path):
    """The services' modules; returns a function that gives what they were told."""
    monkeypatch.syspath_prepend(str(STAND_INS))
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("WANDB_API_KEY", "none")
    monkeypatch.setenv("TOLD", str(tmp_path / "told"))
    return importlib.import_module("told").calls


def train(config):
    tune.report({"loss": 1.5, "score": config["x"]})


def saves(config):
    folder = Path(os.environ.get("TMPDIR", "/tmp"), f"saved-{os.getpid()}")
    folder.mkdir(exist_ok=True)
    (folder / "model").write_text("weights")
    tune.report({"loss": 1.5}, checkpoint=tune.Checkpoint.from_directory(str(folder)))


@pytest.fixture
def wandb_calls(search, tmp_path):
    """Runs a search with the callback, and returns what wandb was told by its kinds."""

    def run(trainable=train, callback=None, **arguments):
        made = callback or part("air.integrations.wandb").WandbLoggerCallback
        folder = tmp_path / f"wandb-{len(list(tmp_path.glob('wandb-*')))}"
        folder.mkdir()
        arguments = {"project": "mine", "dir": str(folder), **arguments}
        search(trainable, config={"x": 2, "y": 3}, callbacks=[made(**arguments)])
        found = {}
        calls = folder / "calls.jsonl"  # a search that does not wait may end before the first call
        for line in calls.read_text().splitlines() if calls.exists() else ():
            what, content = json.loads(line)
            found.setdefault(what, []).append(content)
        return found

    return run


@covers("air.integrations.wandb.WandbLoggerCallback: project group excludes", "air.integrations.wandb.WandbLoggerCallback.AUTO_CONFIG_KEYS",
        "air.integrations.wandb.WandbLoggerCallback.setup")  # fmt: skip
def test_wandb_logs_trials(wandb_calls):
    found = wandb_calls(group="ours", excludes=["score", "y"])
    (init,) = found["init"]
    assert (init["project"], init["group"], init["config"]) == ("mine", "ours", {"x": 2})
    assert found["log"][0]["loss"] == 1.5
    assert "score" not in found["log"][0]
    assert found["config"][0]["trial_id"] == init["id"]
    assert wandb_calls()["log"][0]["score"] == 2


@covers("air.integrations.wandb.WandbLoggerCallback: project")
def test_wandb_needs_a_project(search, monkeypatch):
    monkeypatch.delenv("WANDB_PROJECT_NAME", raising=False)
    callback = part("air.integrations.wandb").WandbLoggerCallback()
    with pytest.raises(Exception, match="project"):
        callback.setup()
    monkeypatch.setenv("WANDB_PROJECT_NAME", "theirs")
    callback.setup()
    assert callback.project == "theirs"


@covers("air.integrations.wandb.WandbLoggerCallback: log_config")
def test_wandb_logs_configs_where_asked(wandb_calls):
    assert wandb_calls(log_config=True)["log"][0]["config/x"] == 2
    assert "config/x" not in wandb_calls()["log"][0]


@covers("air.integrations.wandb.WandbLoggerCallback: api_key api_key_file")
def test_wandb_has_its_key(tmp_path):
    callback = part("air.integrations.wandb").WandbLoggerCallback
    callback(project="mine", api_key="secret").setup()
    assert os.environ["WANDB_API_KEY"] == "secret"
    (tmp_path / "key").write_text("hidden\n")
    callback(project="mine", api_key_file=str(tmp_path / "key")).setup()
    assert os.environ["WANDB_API_KEY"] == "hidden"
    with pytest.raises(Exception, match="api_key_file"):
        callback(project="mine", api_key="secret", api_key_file=str(tmp_path / "key")).setup()


@covers("air.integrations.wandb.WandbLoggerCallback: upload_checkpoints save_checkpoints")
@pytest.mark.parametrize("argument", ["upload_checkpoints", "save_checkpoints"])
def test_wandb_has_checkpoints_where_asked(wandb_calls, argument):
    ((name, kind, files),) = wandb_calls(saves, **{argument: True})["artifact"]
    assert name.startswith("checkpoint_")
    assert (kind, files) == ("model", ["model"])
    assert "artifact" not in wandb_calls(saves)


@covers("air.integrations.wandb.WandbLoggerCallback: upload_timeout")
def test_wandb_waits_for_uploads_for_a_time(wandb_calls):
    assert "finish" in wandb_calls()
    assert "finish" not in wandb_calls(stuck=True, upload_timeout=1)


@covers("air.integrations.wandb.WandbLoggerCallback: image_kwargs video_kwargs")
def test_wandb_shows_images_and_videos(wandb_calls):
    numpy = pytest.importorskip("numpy")

    class Shows(part("air.integrations.wandb").WandbLoggerCallback):
        def log_trial_result(self, iteration, trial, result):
            shown = {"image": numpy.zeros((2, 2, 3)), "video": numpy.zeros((1, 2, 3, 2, 2))}
            super().log_trial_result(iteration, trial, {**result, **shown})

    (logged,) = wandb_calls(callback=Shows, image_kwargs={"caption": "one"}, video_kwargs={"fps": 9})["log"]
    assert (logged["image"], logged["video"]) == ({"caption": "one"}, {"fps": 9})


@covers("air.integrations.wandb.setup_wandb: rank_zero_only")
@pytest.mark.parametrize("only", [True, False])
def test_a_trial_is_of_rank_zero(search, tmp_path, only):
    def trains(config):
        setup = part("air.integrations.wandb").setup_wandb
        run = setup({"x": 2}, api_key="key", rank_zero_only=only, project="mine", dir=str(tmp_path))
        run.log({"loss": 1.5})
        tune.report({"loss": 1.5})

    (trial,) = search(trains).trials
    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert [what for what, _ in calls] == ["init", "log"]
    assert calls[0][1]["id"] == trial.trial_id


@covers("air.integrations.mlflow.setup_mlflow: rank_zero_only")
@pytest.mark.parametrize("only", [True, False])
def test_a_process_without_others_is_of_rank_zero(stand_ins, only):
    part("air.integrations.mlflow").setup_mlflow({"x": 3}, rank_zero_only=only, experiment_id="7")
    assert told(stand_ins(), "log_param") == [{"key": "x", "value": 3, "args": []}]


@covers("air.integrations.wandb.setup_wandb: config api_key api_key_file")
def test_wandb_is_set_up(tmp_path):
    setup = part("air.integrations.wandb").setup_wandb
    setup({"x": 2}, api_key="secret", project="mine", dir=str(tmp_path))
    assert os.environ["WANDB_API_KEY"] == "secret"
    ((what, init),) = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert (what, init["project"], init["config"]) == ("init", "mine", {"x": 2})
    (tmp_path / "key").write_text("hidden\n")
    setup(api_key_file=str(tmp_path / "key"), dir=str(tmp_path))
    assert os.environ["WANDB_API_KEY"] == "hidden"


def logged_by_mlflow(stand_ins, search, trainable=train, **arguments):
    callback = part("air.integrations.mlflow").MLflowLoggerCallback(
        **{"experiment_name": "known", **arguments}
    )
    search(trainable, config={"x": 2}, callbacks=[callback])
    return stand_ins()


def told(calls, name):
    return [call[-1] | {"args": call[1:-1]} for call in calls if call[0] == name]


@covers("air.integrations.mlflow.MLflowLoggerCallback: tracking_uri registry_uri experiment_name tags tracking_token",
        "air.integrations.mlflow.MLflowLoggerCallback.setup")  # fmt: skip
def test_mlflow_logs_trials(stand_ins, search):
    calls = logged_by_mlflow(stand_ins, search, tracking_uri="there", registry_uri="models", tags={"of": "us"}, tracking_token="token")  # fmt: skip
    assert (told(calls, "set_tracking_uri")[0]["args"], told(calls, "set_registry_uri")[0]["args"]) == (
        ["there"],
        ["models"],
    )
    (run,) = told(calls, "create_run")
    assert (run["experiment_id"], run["tags"]["of"]) == ("7", "us")
    assert os.environ["MLFLOW_TRACKING_TOKEN"] == "token"
    assert {one["key"]: one["value"] for one in told(calls, "log_metric")}["loss"] == 1.5
    assert told(calls, "set_terminated")[0]["status"] == "FINISHED"


@covers("air.integrations.mlflow.MLflowLoggerCallback: experiment_name")
def test_mlflow_makes_an_experiment(stand_ins, search):
    calls = logged_by_mlflow(stand_ins, search, experiment_name="new")
    assert told(calls, "create_experiment")[0]["name"] == "new"
    assert told(calls, "create_run")[0]["experiment_id"] == "8"


@covers("air.integrations.mlflow.MLflowLoggerCallback: save_artifact log_params_on_trial_end")
@pytest.mark.parametrize("at_end", [False, True])
def test_mlflow_logs_at_the_end_where_asked(stand_ins, search, at_end):
    calls = logged_by_mlflow(stand_ins, search, save_artifact=at_end, log_params_on_trial_end=at_end)
    names = [call[0] for call in calls]
    assert (names.index("log_param") > names.index("log_metric")) == at_end
    assert ("log_artifacts" in names) == at_end


@covers(
    "air.integrations.mlflow.setup_mlflow: config tracking_uri registry_uri experiment_id tracking_token run_name tags"
)
def test_mlflow_is_set_up(stand_ins):
    module = part("air.integrations.mlflow").setup_mlflow(
        {"x": 2}, tracking_uri="there", registry_uri="models", experiment_id="7", tracking_token="mine", run_name="one", tags={"of": "us"},
    )  # fmt: skip
    assert module is sys.modules["mlflow"]
    assert os.environ["MLFLOW_TRACKING_TOKEN"] == "mine"
    assert [
        one["args"] for name in ("set_tracking_uri", "set_registry_uri") for one in told(stand_ins(), name)
    ] == [["there"], ["models"]]
    assert told(stand_ins(), "start_run") == [
        {"run_name": "one", "experiment_id": "7", "tags": {"of": "us"}, "args": []}
    ]
    assert told(stand_ins(), "log_param") == [{"key": "x", "value": 2, "args": []}]


@covers(
    "air.integrations.mlflow.setup_mlflow: experiment_name create_experiment_if_not_exists artifact_location"
)
def test_mlflow_makes_an_experiment_where_asked(stand_ins):
    setup = part("air.integrations.mlflow").setup_mlflow
    with pytest.raises(ValueError, match="new"):
        setup(experiment_name="new")
    setup(experiment_name="new", create_experiment_if_not_exists=True, artifact_location="there")
    assert told(stand_ins(), "create_experiment") == [
        {"name": "new", "artifact_location": "there", "args": []}
    ]
    assert told(stand_ins(), "start_run")[0]["experiment_id"] == "8"


@covers("air.integrations.comet.CometLoggerCallback: online tags save_checkpoints")
@pytest.mark.parametrize(("online", "kind"), [(True, "Experiment"), (False, "OfflineExperiment")])
def test_comet_logs_trials(stand_ins, search, online, kind):
    callback = part("air.integrations.comet").CometLoggerCallback(
        online=online, tags=["ours"], save_checkpoints=online, project_name="mine"
    )
    search(saves, config={"x": 2}, callbacks=[callback])
    calls = stand_ins()
    made = next(call for call in calls if call[0] == kind)
    assert made[1]["project_name"] == "mine"
    assert next(call for call in calls if call[0] == "add_tags")[1] == ["ours"]
    assert next(call for call in calls if call[0] == "log_metrics")[1]["loss"] == 1.5
    artifacts = [call[1] for call in calls if call[0] == "log_artifact"]
    assert [[name for name in files if name[0] != "."] for files in artifacts] == [["model"]] * online


@covers("tune.logger.aim.AimLoggerCallback: repo experiment_name metrics")
def test_aim_logs_trials(stand_ins, search):
    made = part("tune.logger.aim").AimLoggerCallback
    search(train, config={"x": 2}, callbacks=[made(repo="there", experiment_name="mine", metrics=["loss"])])
    calls = stand_ins()
    assert calls[0][0] == "Run"
    assert {"repo": "there", "experiment": "mine"}.items() <= calls[0][1].items()
    tracked = [call[1] for call in calls if call[0] == "track"]
    assert [(one["name"], one["value"]) for one in tracked] == [("ray/tune/loss", 1.5)]
    assert calls[-1] == ["close"]
    with pytest.raises(ValueError):
        made(metrics=[])


@covers("tune.logger.aim.AimLoggerCallback.VALID_HPARAMS")
def test_aim_logs_hyperparameters_of_its_types(stand_ins, search):
    made = part("tune.logger.aim").AimLoggerCallback
    space = {"x": 2, "y": tune.grid_search([3]), "z": tune.grid_search([(4, 5)])}
    search(train, config=space, callbacks=[made(repo="there")])
    assert [call[1] for call in stand_ins() if call[0] == "hparams"] == [{"y": 3}]
    assert {str, int, float, bool} <= set(made.VALID_HPARAMS)
