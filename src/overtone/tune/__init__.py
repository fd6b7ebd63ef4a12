"""The public API: `from overtone import tune`.

Each name is imported on first use. Importing this
package is therefore cheap, also in trial processes. `tune.params` and
`tune.checkpoint` return the values of the running trial.
"""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.analysis": "ExperimentAnalysis Result ResultGrid",
    "overtone.curves": "CurveTable",
    "overtone.engines.simulated": "Machines Simulated World",
    "overtone.errors": "TuneError",
    "overtone.observers.callbacks.callback": "Callback",
    "overtone.observers.display.reporters": "CLIReporter JupyterNotebookReporter ProgressReporter",
    "overtone.space.constraint": "space",
    "overtone.space.dsl": "choice grid_search lograndint loguniform normal_prior qlograndint qloguniform"
    " qrandint qrandn quniform randint randn sample_from uniform",
    "overtone.stoppers": "Stopper",
    "overtone.run.ray_engine": "ray_cluster",
    "overtone.tune.analysis": "Analysis",
    "overtone.named": "create_scheduler create_searcher",
    "overtone.tune.context": "TuneContext",
    "overtone.tune.demand": "ScalingConfig",
    "overtone.tune.execution.placement_groups": "PlacementGroupFactory",
    "overtone.tune.experiment": "Experiment run_experiments",
    "overtone.tune.registry": "register_trainable",
    "overtone.tune.result": "TrainingResult",
    "overtone.tune.session": "checkpoint_dir get_checkpoint get_context get_experiment_name get_trial_dir"
    " get_trial_id get_trial_name get_trial_resources is_session_enabled"
    " make_checkpoint_dir record_checkpoint report save_checkpoint should_checkpoint simulate_time",
    "overtone.tune.syncer": "SyncConfig",
    "overtone.tune.trainable": "DurableTrainable Trainable durable function with_parameters with_resources",
    "overtone.tune.tune": "CheckpointConfig FailureConfig ResumeConfig RunConfig TuneConfig run start",
    "overtone.tune.tuner": "Tuner",
    "overtone.worker.checkpoints.checkpoint": "Checkpoint",
    "overtone.worker.session.once_per_machine": "once",
    "overtone.worker.shared_objects": "get put",
}
_MODULES = (
    "callback error examples execution experiment integration logger progress_reporter registry result "
    "result_grid sample schedulers search session stopper suggest syncer track trainable trial tuner utils"
)
_OF_THE_TRIAL = ("checkpoint", "params")

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from overtone.analysis import ExperimentAnalysis as ExperimentAnalysis
    from overtone.analysis import Result as Result
    from overtone.analysis import ResultGrid as ResultGrid
    from overtone.curves import CurveTable as CurveTable
    from overtone.engines.simulated import Machines as Machines
    from overtone.engines.simulated import Simulated as Simulated
    from overtone.engines.simulated import World as World
    from overtone.errors import TuneError as TuneError
    from overtone.named import create_scheduler as create_scheduler
    from overtone.named import create_searcher as create_searcher
    from overtone.observers.callbacks.callback import Callback as Callback
    from overtone.observers.display.reporters import CLIReporter as CLIReporter
    from overtone.observers.display.reporters import JupyterNotebookReporter as JupyterNotebookReporter
    from overtone.observers.display.reporters import ProgressReporter as ProgressReporter
    from overtone.run.ray_engine import ray_cluster as ray_cluster
    from overtone.space.constraint import space as space
    from overtone.space.dsl import choice as choice
    from overtone.space.dsl import grid_search as grid_search
    from overtone.space.dsl import lograndint as lograndint
    from overtone.space.dsl import loguniform as loguniform
    from overtone.space.dsl import normal_prior as normal_prior
    from overtone.space.dsl import qlograndint as qlograndint
    from overtone.space.dsl import qloguniform as qloguniform
    from overtone.space.dsl import qrandint as qrandint
    from overtone.space.dsl import qrandn as qrandn
    from overtone.space.dsl import quniform as quniform
    from overtone.space.dsl import randint as randint
    from overtone.space.dsl import randn as randn
    from overtone.space.dsl import sample_from as sample_from
    from overtone.space.dsl import uniform as uniform
    from overtone.stoppers import Stopper as Stopper
    from overtone.tune import callback as callback
    from overtone.tune import error as error
    from overtone.tune import examples as examples
    from overtone.tune import execution as execution
    from overtone.tune import experiment as experiment
    from overtone.tune import integration as integration
    from overtone.tune import logger as logger
    from overtone.tune import progress_reporter as progress_reporter
    from overtone.tune import registry as registry
    from overtone.tune import result as result
    from overtone.tune import result_grid as result_grid
    from overtone.tune import sample as sample
    from overtone.tune import schedulers as schedulers
    from overtone.tune import search as search
    from overtone.tune import session as session
    from overtone.tune import stopper as stopper
    from overtone.tune import suggest as suggest
    from overtone.tune import syncer as syncer
    from overtone.tune import track as track
    from overtone.tune import trainable as trainable
    from overtone.tune import trial as trial
    from overtone.tune import tuner as tuner
    from overtone.tune import utils as utils
    from overtone.tune.analysis import Analysis as Analysis
    from overtone.tune.context import TuneContext as TuneContext
    from overtone.tune.demand import ScalingConfig as ScalingConfig
    from overtone.tune.execution.placement_groups import PlacementGroupFactory as PlacementGroupFactory
    from overtone.tune.experiment import Experiment as Experiment
    from overtone.tune.experiment import run_experiments as run_experiments
    from overtone.tune.registry import register_trainable as register_trainable
    from overtone.tune.result import TrainingResult as TrainingResult
    from overtone.tune.session import checkpoint_dir as checkpoint_dir
    from overtone.tune.session import get_checkpoint as get_checkpoint
    from overtone.tune.session import get_context as get_context
    from overtone.tune.session import get_experiment_name as get_experiment_name
    from overtone.tune.session import get_trial_dir as get_trial_dir
    from overtone.tune.session import get_trial_id as get_trial_id
    from overtone.tune.session import get_trial_name as get_trial_name
    from overtone.tune.session import get_trial_resources as get_trial_resources
    from overtone.tune.session import is_session_enabled as is_session_enabled
    from overtone.tune.session import make_checkpoint_dir as make_checkpoint_dir
    from overtone.tune.session import record_checkpoint as record_checkpoint
    from overtone.tune.session import report as report
    from overtone.tune.session import save_checkpoint as save_checkpoint
    from overtone.tune.session import should_checkpoint as should_checkpoint
    from overtone.tune.session import simulate_time as simulate_time
    from overtone.tune.syncer import SyncConfig as SyncConfig
    from overtone.tune.trainable import DurableTrainable as DurableTrainable
    from overtone.tune.trainable import Trainable as Trainable
    from overtone.tune.trainable import durable as durable
    from overtone.tune.trainable import function as function
    from overtone.tune.trainable import with_parameters as with_parameters
    from overtone.tune.trainable import with_resources as with_resources
    from overtone.tune.tune import CheckpointConfig as CheckpointConfig
    from overtone.tune.tune import FailureConfig as FailureConfig
    from overtone.tune.tune import ResumeConfig as ResumeConfig
    from overtone.tune.tune import RunConfig as RunConfig
    from overtone.tune.tune import TuneConfig as TuneConfig
    from overtone.tune.tune import run as run
    from overtone.tune.tune import start as start
    from overtone.tune.tuner import Tuner as Tuner
    from overtone.worker.checkpoints.checkpoint import Checkpoint as Checkpoint
    from overtone.worker.session.once_per_machine import once as once
    from overtone.worker.shared_objects import get as get
    from overtone.worker.shared_objects import put as put

    params: Mapping[str, Any]
    checkpoint: str | None
else:
    _attached, _names = attach(__name__, _NAMES, _MODULES.split())

    def __getattr__(name):
        if name in _OF_THE_TRIAL:  # never cached: the values belong to the running trial
            from overtone.tune.session import of_the_trial

            return of_the_trial(name)
        return _attached(name)

    def __dir__():
        return [*_names(), *_OF_THE_TRIAL]
