"""Ray Tune's environment variables, of which some are honoured."""

import re
import signal
from pathlib import Path

import pytest

from overtone import tune
from overtone.errors import ArgumentError
from overtone.tune import constants, environment
from overtone.tune.arguments import to_experiment

DOCS = Path(__file__).parents[3] / "docs" / "environment-variables.md"


class Mine(tune.Callback):
    pass


HERE = f"{__name__}.Mine"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, {}),
        ({"TUNE_RESULT_DIR": "/r"}, {"storage_path": "/r"}),
        ({"RAY_AIR_LOCAL_CACHE_DIR": "/c"}, {"storage_path": "/c"}),
        ({"RAY_AIR_LOCAL_CACHE_DIR": "/c", "TUNE_RESULT_DIR": "/r"}, {"storage_path": "/r"}),
        ({"TUNE_RESULT_DIR": ""}, {}),
        ({"TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1"}, {"files": False}),
        ({"TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "0"}, {}),
        ({"TUNE_DISABLE_DATED_SUBDIR": "1"}, {"name": "train"}),
        ({"TUNE_DISABLE_DATED_SUBDIR": "0"}, {}),
        ({"RAY_CHDIR_TO_TRIAL_DIR": "0"}, {"chdir_to_trial_dir": False}),
        ({"TUNE_FORCE_TRIAL_CLEANUP_S": "2.5"}, {"grace_s": 2.5}),
        ({"RAY_TUNE_CALLBACKS": " , "}, {}),
    ],
)
def test_variables_set_arguments(variables, expected):
    assert environment.settings("train", variables) == expected


def test_callbacks_are_made_from_paths():
    found = environment.settings("train", {"RAY_TUNE_CALLBACKS": f"{HERE}, ,{HERE}"})
    assert [type(one).__name__ for one in found["callbacks"]] == ["Mine", "Mine"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("RAY_TUNE_CALLBACKS", "nothing"), ("RAY_TUNE_CALLBACKS", "no.such.Module"), ("RAY_TUNE_CALLBACKS", "os.path"),
     ("RAY_TUNE_CALLBACKS", "os.Missing"), ("TUNE_FORCE_TRIAL_CLEANUP_S", "soon"), ("TUNE_FORCE_TRIAL_CLEANUP_S", "-1"),
     ("TUNE_FORCE_TRIAL_CLEANUP_S", "nan"), ("TUNE_DISABLE_DATED_SUBDIR", "yes")],
)  # fmt: skip
def test_a_wrong_value_is_said_with_its_name(name, value):
    with pytest.raises(ArgumentError, match=f"{name}.*{re.escape(value)}"):
        environment.settings("train", {name: value})


def test_arguments_take_precedence(monkeypatch):
    monkeypatch.setenv("TUNE_RESULT_DIR", "/r")
    monkeypatch.setenv("TUNE_FORCE_TRIAL_CLEANUP_S", "3")
    monkeypatch.setenv("TUNE_DISABLE_DATED_SUBDIR", "1")
    monkeypatch.setenv("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    monkeypatch.setenv("RAY_TUNE_CALLBACKS", HERE)
    by_environment = to_experiment(len)
    assert (by_environment.storage, by_environment.grace_s, by_environment.name) == ("/r", 3.0, "len")
    assert by_environment.files is False
    own = tune.Callback()
    given = to_experiment(len, local_dir="/mine", grace_s=5.0, name="mine", files=True, callbacks=(own,))
    assert (given.storage, given.grace_s, given.name, given.files) == ("/mine", 5.0, "mine", True)
    assert given.callbacks[0] is own
    assert [type(one).__name__ for one in given.callbacks[1:]] == ["Mine"]


def test_signals_are_left_alone_if_asked(monkeypatch, tmp_path):
    def handlers(config):
        return {"same": signal.getsignal(signal.SIGINT) is before}

    before = signal.getsignal(signal.SIGINT)

    def outcome():
        return (
            tune.run(handlers, storage_path=tmp_path, verbose=0, engine="inline")
            .trials[0]
            .last_result["same"]
        )

    assert environment.catches_signals({})
    assert not environment.catches_signals({"TUNE_DISABLE_SIGINT_HANDLER": "1"})
    assert outcome() is False
    monkeypatch.setenv("TUNE_DISABLE_SIGINT_HANDLER", "1")
    assert outcome() is True


def test_the_honoured_variables_have_constants():
    assert {"TUNE_RESULT_DIR", constants.RAY_TUNE_CALLBACKS_ENV_VAR} <= constants.TUNE_ENV_VARS
    assert {name for name, (honoured, _) in table().items() if honoured == "yes"} >= constants.TUNE_ENV_VARS


def table():
    """The rows of the page: variable, whether it is honoured, and the text."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    return {name: (honoured, text) for name, honoured, text in rows}


def test_the_page_says_which_variables_are_honoured():
    read = {environment.NO_LOGGERS, environment.NO_DATE, environment.NO_SIGNALS, environment.GRACE_S, environment.CHDIR,
            environment.CALLBACKS, *environment.FOLDERS}  # fmt: skip
    honoured = {name for name, (is_honoured, _) in table().items() if is_honoured == "yes"}
    assert read <= honoured
    assert {is_honoured for is_honoured, _ in table().values()} == {"yes", "no", "default"}


DOCUMENTED = """
RAY_AIR_FULL_TRACEBACKS RAY_AIR_LOCAL_CACHE_DIR RAY_AIR_NEW_OUTPUT RAY_CHDIR_TO_TRIAL_DIR RAY_TUNE_CALLBACKS
TUNE_DISABLE_AUTO_CALLBACK_LOGGERS TUNE_DISABLE_AUTO_INIT TUNE_DISABLE_DATED_SUBDIR TUNE_DISABLE_SIGINT_HANDLER
TUNE_DISABLE_STRICT_METRIC_CHECKING TUNE_FORCE_TRIAL_CLEANUP_S TUNE_FUNCTION_THREAD_TIMEOUT_S
TUNE_GLOBAL_CHECKPOINT_S TUNE_MAX_LEN_IDENTIFIER TUNE_MAX_PENDING_TRIALS_PG
TUNE_ONLY_STORE_CHECKPOINT_SCORE_ATTRIBUTE TUNE_ORIG_WORKING_DIR TUNE_PLACEMENT_GROUP_PREFIX
TUNE_PLACEMENT_GROUP_RECON_INTERVAL TUNE_PRINT_ALL_TRIAL_ERRORS TUNE_RESTORE_RETRY_NUM TUNE_RESULT_BUFFER_LENGTH
TUNE_RESULT_BUFFER_MAX_TIME_S TUNE_RESULT_BUFFER_MIN_TIME_S TUNE_RESULT_DELIM TUNE_RESULT_DIR
TUNE_STATE_REFRESH_PERIOD TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S
TUNE_WARN_INSUFFICENT_RESOURCE_THRESHOLD_S TUNE_WARN_INSUFFICENT_RESOURCE_THRESHOLD_S_AUTOSCALER
TUNE_WARN_INSUFFICIENT_RESOURCE_THRESHOLD_S TUNE_WARN_INSUFFICIENT_RESOURCE_THRESHOLD_S_AUTOSCALER
TUNE_WARN_SLOW_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S TUNE_WARN_THRESHOLD_S
TUNE_CHECKPOINT_CLOUD_RETRY_NUM TUNE_CHECKPOINT_CLOUD_RETRY_WAIT_TIME_S TUNE_CLUSTER_SSH_KEY
TUNE_DISABLE_AUTO_CALLBACK_SYNCER TUNE_PLACEMENT_GROUP_WAIT_S TUNE_SYNCER_VERBOSITY TUNE_SYNC_DISABLE_BOOTSTRAP
TUNE_TRIAL_RESULT_WAIT_TIME_S TUNE_TRIAL_STARTUP_GRACE_PERIOD WANDB_API_KEY
"""
"""The variables that Ray Tune's documentation has had, from 1.0 to 2.60."""


def test_the_page_has_a_row_for_each_documented_variable():
    assert sorted(set(DOCUMENTED.split()) - table().keys()) == []
    assert list(table()) == sorted(table())


def test_no_other_module_reads_such_variables():
    source = Path(environment.__file__).parents[1]
    pattern = re.compile(r"environ[^\n]*[\"'](TUNE_(?!ORIG)|RAY_AIR_|RAY_TUNE_)")
    found = [path for path in source.rglob("*.py") if pattern.search(path.read_text("utf-8"))]
    assert [path for path in found if path != Path(environment.__file__)] == []
