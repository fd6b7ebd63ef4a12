"""The description of an experiment in one object, for every dialect of the API.

A new option is a field here, an argument in `tune/tune.py`, and its use. The rest follows from the
field: the argument's conversion and check, the header, a restore, the messages of a resume, docstrings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Literal

from overtone.core.limits import TrialLimits
from overtone.core.protocols import Engine, Observer, Searcher, TrialScheduler
from overtone.core.resources import parse_bytes
from overtone.errors import ArgumentError
from overtone.option import APART, CODE, are_names, at_least, check_options, must, option

_TAKEN = "taken"
_STAYS = "taken: trials that ended stay ended"
_FROM_NOW = "taken for trials from now on; trials that were made keep theirs"
_RANKS = "taken: results so far are ranked anew by it, what was decided stays"
_DECIDES = "taken: what was decided stays, and it decides from now on"
_DELETED = "taken: deleted checkpoints stay deleted"


_NAMES = must(are_names, " must be a name, or a list of names")
_LIST = must(
    lambda value: (
        hasattr(value, "__iter__")
        and not isinstance(value, (str, bytes))
        and not any(isinstance(one, (type, str, bytes, int, float, Mapping)) for one in value)
    ),
    " must be a list of Callback objects, such as [MyCallback()]",
)
_FORMATS = must(
    lambda value: (
        isinstance(value, (list, tuple)) and {*map(str, value)} <= {"checkpoint", "model", "onnx", "h5"}
    ),
    ' must be a list of "checkpoint", "model", "onnx" and "h5"',
)
_FUNCTION = must(lambda value: value is None or callable(value), " must be a function of a trial")
_TEXT = must(lambda value: value is None or isinstance(value, str), " must be a text")
_PLACE = must(
    lambda value: value is None or isinstance(value, (str, os.PathLike)),
    ' must be a folder or a URL, such as "~/results"',
)
_FILES = must(
    lambda value: (
        isinstance(value, (bool, str))
        or (
            isinstance(value, (list, tuple))
            and len(value) in (1, 2)
            and all(isinstance(one, (str, Path)) for one in value)
        )
    ),
    ' must be True, False, or one or two names of files, such as ("out.txt", "err.txt")',
)
_SIZE = must(
    lambda value: value is None or (not isinstance(value, bool) and 0 < parse_bytes(value) < inf),
    ' must be a size above 0, such as "20GB"',
)


def _path(name: str, value: Any) -> str | None:
    """Return a path as text; None for None."""
    if value is None or isinstance(value, (str, os.PathLike)):
        return value if value is None else str(os.fspath(value))
    raise ArgumentError(f"{name}={value!r} must be the path of a folder or file")


def _whole(name: str, value: Any) -> int:
    """Return a number as an int; also of an enum, or written as text."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name}={value!r} must be a whole number, such as 1") from None


# fmt: off
@dataclass(slots=True)
class CheckpointPolicy:
    """The policy of saving and keeping checkpoints."""

    every: int | None = option(
        None, "Iterations between two checkpoints; 0 for no checkpoints. None saves automatically, with a "
        "target of at most 5 % overhead. No more than about 10 minutes of work stay unsaved, which costs "
        "more if one save takes longer than 30 s or one iteration longer than 5 minutes.",
        changed=_TAKEN, argument="checkpoint_freq", config="CheckpointConfig",
        config_name="checkpoint_frequency", check=at_least(0))
    at_end: bool | None = option(
        None, "Whether class trainables save when a trial ends. None saves if checkpoints are automatic and "
        "the trial ran for 10 s or more.",
        changed=_TAKEN, argument="checkpoint_at_end", config="CheckpointConfig")
    keep: int | None = option(
        None, "Number of best checkpoints kept per trial, in addition to the newest; at least 1. None keeps "
        "all requested checkpoints, and the best and the two newest automatic ones.",
        changed=_DELETED, argument="keep_checkpoints_num", config="CheckpointConfig",
        config_name="num_to_keep", check=at_least(1))
    order: str | None = option(
        None, "The metric that selects the kept checkpoints; None for the newest. `tune.run` also takes "
        '"min-loss": low values of "loss" are kept.',
        changed=_DELETED, argument="checkpoint_score_attr", config="CheckpointConfig",
        config_name="checkpoint_score_attribute", check=_TEXT)
    order_mode: str = option(
        "max", '"max" or "min": whether high or low values of that metric are kept.',
        changed=_DELETED, argument="checkpoint_score_attr", config="CheckpointConfig",
        config_name="checkpoint_score_order", shown="checkpoint_score_attr's order")
    max_disk: float | str | None = option(
        None, 'Size limit of the checkpoints of all trials together, such as "20GB" or a number of bytes; '
        "None for no limit. The worst checkpoints are deleted first, except those that a trial may still "
        "restore. While these alone take more, no new checkpoint is kept.",
        changed=_DELETED, config="CheckpointConfig", check=_SIZE)

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def most_bytes(self) -> int | None:
        """`max_disk` in bytes."""
        return None if self.max_disk is None else int(parse_bytes(self.max_disk))


@dataclass(slots=True)
class Experiment:
    """A search, before it runs: a trainable (any callable, class or generator function) and its options.

    Raises:
        ValueError: An option has a value that is not allowed.
    """

    trainable: Any
    space: Any = option(
        dict, "The search space; or a list, generator or frame of configs.",
        changed="taken: trials from now on are drawn from the new one", argument="config", config="Tuner",
        config_name="param_space", shown="param_space", recorded=APART)
    name: str | None = option(
        None, "The experiment's folder below `storage_path`; made from the trainable's name and the date "
        "when None.",
        changed="", config="RunConfig", check=_TEXT, recorded="the folder's name")
    storage: str | Path | None = option(
        None, "The folder of all experiments, or a URL; `~/overtone_results` when None.",
        changed="", argument="storage_path", config="RunConfig",
        also={"local_dir": "The old name of `storage_path`."}, check=_PLACE,
        recorded="the folder above, or the URL that belongs to it")
    num_samples: int = option(
        1, "Number of samples of the space; -1 for no limit.",
        changed="taken: trials that were made stay", config="TuneConfig", check=at_least(-1))
    metric: str | Sequence[str] | None = option(
        None, "The metric to optimise, or a list of several; None takes it from the scheduler, the searcher "
        "or the first result.",
        changed=_RANKS, config="TuneConfig", check=_NAMES, recorded=APART)
    mode: str | Sequence[str] | None = option(
        None, '"max" or "min"; for several metrics a list.',
        changed=_RANKS, config="TuneConfig", check=_NAMES, recorded=APART)
    scheduler: TrialScheduler | type[TrialScheduler] | str | None = option(
        None, "A scheduler, its class or its name; None for first in, first out.",
        changed=_DECIDES, config="TuneConfig", recorded=APART)
    searcher: Searcher | str | None = option(
        None, "A searcher or its name; None for random and grid search.",
        changed=_DECIDES, argument="search_alg", config="TuneConfig", recorded=APART)
    stop: Any = option(
        None, 'When trials end: a dict such as {"training_iteration": 10}, a callable `(trial_id, result) -> '
        "bool`, a Stopper, or a list of these.",
        changed=_STAYS, config="RunConfig", recorded=APART)
    resources: Any = option(
        None, 'Resources of a trial, such as {"cpu": 2, "gpu": 0.5, "memory": "2GB"}; a list of such '
        "mappings, one a bundle; or a function `config -> resources`. \"gpu_memory\", such as \"6GB\" or "
        "\"auto\", lets trials share GPUs by memory. None takes the trainable's own "
        "request, else 1 CPU.",
        changed=f"{_FROM_NOW} until a scheduler restarts them", argument="resources_per_trial")
    max_concurrent: int | None = option(
        None, "Maximum number of trials that run at the same time; None or 0 for no limit.",
        changed=_TAKEN, argument="max_concurrent_trials", config="TuneConfig", check=at_least(0))
    max_failures: int = option(
        0, "Maximum number of retries of a failed trial; -1 for no limit. Killed trials are always "
        "restarted.",
        changed=_STAYS, config="FailureConfig", check=at_least(-1))
    fail_fast: bool | str = option(
        False, 'True ends the search, and within seconds all trials, at the first failed trial; "raise" also '
        "raises its error.",
        changed=_TAKEN, config="FailureConfig",
        check=must(lambda value: value in (True, False, "raise"), ': choose True, False or "raise"'))
    time_budget_s: float | None = option(
        None, "Maximum time of the search, in seconds or as a timedelta; None for no limit.",
        changed="taken: the time of earlier drivers counts; trials that ended stay ended",
        config="TuneConfig", check=at_least(0, "__float__"))
    reuse: bool = option(
        False, "Keep a trial's process for the next trial, unless the trial leaves threads running. A class "
        "trainable that defines `reset_config` keeps its object as well.",
        changed=_TAKEN, argument="reuse_actors", config="TuneConfig")
    log_to_file: bool | str | Sequence[str] = option(
        False, 'True for files "stdout" and "stderr" of each trial, or their names, one or two.',
        changed=_TAKEN, config="RunConfig", check=_FILES)
    checkpoints: CheckpointPolicy = option(
        CheckpointPolicy, "A `CheckpointConfig`: when trials save, and which checkpoints are kept. Trials "
        "that can save are saved automatically. `tune.run` also takes its options as separate arguments.",
        changed="",  # each of its options is told
        argument="checkpoint_config", config="RunConfig", recorded="an entry of its own, option by option")
    callbacks: Sequence[Observer | Any] = option(
        (), "`Callback`s, called during the run.",
        changed="taken: what happened so far is told to them as past", config="RunConfig",
        also={"loggers": "Classes of loggers, as early versions of the API have them."},
        check=_LIST,
        recorded=CODE)
    reporter: Any = option(
        None, "A reporter that shows the state of the run; None chooses by `verbose` and the terminal.",
        changed="",  # of the terminal that the run is watched in
        argument="progress_reporter", config="RunConfig", recorded=CODE)
    verbose: int = option(
        2, "0 for no output, 1 for the table, 2 and 3 for more.",
        changed="",  # of the terminal, too
        config="RunConfig", check=_whole)
    seed: int | None = option(
        None, "The seed of all random choices. None draws it, from NumPy's state if imported, and logs it.",
        changed="kept: {}; what was drawn so far was drawn with it", config="TuneConfig", check=at_least(0),
        recorded="an entry of its own, also if None was given")
    engine: Engine | str | None = option(
        None, '"local", "ray", "inline", "simulated" or an Engine; None to choose.',
        changed=_TAKEN, config="RunConfig", recorded=CODE)
    trial_name: Callable[[Any], str] | None = option(
        None, "`trial -> name`, the name that output shows.",
        changed=_FROM_NOW, argument="trial_name_creator", config="TuneConfig", check=_FUNCTION, recorded=CODE)
    trial_folder: Callable[[Any], str] | None = option(
        None, "`trial -> name of the trial's folder`, below the experiment's folder.",
        changed=_TAKEN, argument="trial_dirname_creator", config="TuneConfig", check=_FUNCTION, recorded=CODE)
    chdir_to_trial_dir: bool = option(
        True, "Whether each trial works in its own folder, so that files with relative paths are there; the "
        "driver's directory is `os.environ[\"TUNE_ORIG_WORKING_DIR\"]`. None takes the environment variable "
        "RAY_CHDIR_TO_TRIAL_DIR (1 or 0), else True.",
        changed=_FROM_NOW, config="TuneConfig or RunConfig")
    export_formats: Sequence[str] = option(
        (), 'Formats, such as "model", in which class trainables export their model when they end: '
        "`_export_model(export_formats, export_dir)` is called with the trial's folder.",
        changed=_FROM_NOW, check=_FORMATS)
    restore: str | Path | None = option(
        None, "The folder, file or URL of a checkpoint that each trial begins with. The experiment keeps a "
        "copy. Iterations are counted on from a checkpoint that Overtone saved.",
        changed="kept: the checkpoint that the experiment began with", check=_path)
    points_to_evaluate: Sequence[Mapping[str, Any]] = option(
        (), "Configs (may be partial) to evaluate first.",
        changed="taken where they come later than the trials that were made", config="TuneConfig",
        recorded="an argument of the searcher")
    warm_start: Sequence[Any] = option(
        (), "Earlier searches whose results the searcher observes first: folders of experiments, Overtone's "
        "or Ray Tune's, URLs of Optuna's storages, Optuna studies.",
        changed="kept: the results that were read when the run began", config="TuneConfig",
        recorded="the results that were read: their sources may have changed since")
    constraints: Sequence[str] | Mapping[str, float] = option(
        (), "Metrics that a good trial must keep at 0 or less; a mapping gives each its upper bound, such as "
        '{"latency_ms": 50}.',
        changed=_RANKS, config="TuneConfig", recorded=APART)
    priority: Callable[[Mapping[str, Any]], float] | None = option(
        None, "`config -> number`; trials with a higher number are chosen first.",
        changed=_FROM_NOW, config="TuneConfig", recorded=CODE,
        check=must(lambda value: value is None or callable(value), " must be a function of a config"))
    raise_on_failed_trial: bool = option(
        True, "Whether to raise at the end of the run if trials failed; a `Tuner` never does.",
        changed="")
    captures_output: bool = option(
        True, "Whether the output of trials is shown with their name.",
        changed=_TAKEN)
    durability: Literal["interval", "sync"] = option(
        "interval", 'When the journal is on the disk: "interval" (fsync once a second) or "sync" (each '
        "batch).",
        changed=_TAKEN,
        check=must(lambda value: value in ("interval", "sync"), ': choose "interval" or "sync"'))
    grace_s: float = option(
        10.0, "Seconds from a halt to SIGTERM, and from there to SIGKILL. After an external SIGTERM, a trial "
        "has as many seconds to save.",
        changed=_TAKEN)
    trial_limits: Mapping[str, Any] | TrialLimits | None = option(
        None, 'Limits of each trial with all processes that it starts, such as {"time_s": 3600, "cpu_s": '
        '7200, "memory": "2GB"}; a trial that exceeds a limit fails.',
        changed="taken: what trials have used so far counts", config="TuneConfig or RunConfig",
        check=lambda _, value: (limits := TrialLimits.of(value)) and limits.as_data())
    resume: bool | str | None = option(
        False, 'True, False, or "AUTO" to resume the earlier experiment if there is one. "AUTO+ERRORED" also '
        'retries failed trials from their last checkpoint, "AUTO+RESTART_ERRORED" from their beginning. '
        "Without a name, the last experiment of this script is resumed. A resume prints each setting that "
        "differs from the recorded run, and whether the source of the trainable changed; functions that the "
        "trainable calls are not compared.",
        changed="", also={"resume_config": "The same choices as a `ResumeConfig`."},
        recorded="nowhere: it says how a run begins, and not what it is")
    storage_patience_s: float = option(
        300.0, "Seconds that a `storage_path` at a URL may be unreachable before the run ends.",
        changed=_TAKEN)
    tensorboard: bool | None = option(
        None, "Whether event files are written; None writes them if the library is installed.",
        changed=_TAKEN)
    files: bool | None = option(
        None, "Whether each trial has params.json, result.json, progress.csv and event files; None for all "
        "but simulated searches. The journal has it all, and `overtone export` writes it.",
        changed=_TAKEN)
    ui: bool = option(
        False, "Whether the dashboard of the folder of all experiments is started, or used if it runs; its "
        'address is printed. Needs `pip install "overtone[ui]"`.',
        changed="",  # of the machine that the run is watched on
        config="RunConfig", check=must(lambda value: isinstance(value, bool), " must be True or False"),
        recorded="nowhere: it says who watches a run, and not what it is")

    rerun_of: Mapping[str, Any] | None = None
    """In a rerun of one trial: facts about the experiment that it repeats, and the trial's `index` and
    encoded `config`."""

    def __post_init__(self) -> None:
        check_options(self)
