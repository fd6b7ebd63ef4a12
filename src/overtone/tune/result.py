"""Names of a result's fields and files, as scripts import them from `tune.result`."""

from __future__ import annotations

import os

CONFIG = "config"
DATE = "date"
DONE = "done"
EPISODE_REWARD_MEAN = "episode_reward_mean"
EPISODES_THIS_ITER = "episodes_this_iter"
EPISODES_TOTAL = "episodes_total"
EXPERIMENT_TAG = "experiment_tag"
HOSTNAME = "hostname"
MEAN_ACCURACY = "mean_accuracy"
MEAN_LOSS = "mean_loss"
NODE_IP = "node_ip"
PID = "pid"
SHOULD_CHECKPOINT = "should_checkpoint"
TIMESTAMP = "timestamp"
TIMESTEPS_THIS_ITER = "timesteps_this_iter"
TIMESTEPS_TOTAL = "timesteps_total"
TIME_THIS_ITER_S = "time_this_iter_s"
TIME_TOTAL_S = "time_total_s"
TRAINING_ITERATION = "training_iteration"
TRIAL_ID = "trial_id"

DEFAULT_METRIC = "_metric"
"""The name of a metric that was reported without a name."""

AUTO_RESULT_KEYS = (
    TRAINING_ITERATION, TIME_TOTAL_S, EPISODES_TOTAL, TIMESTEPS_TOTAL, NODE_IP, HOSTNAME, PID,
    TIME_THIS_ITER_S, TIMESTAMP, DATE, CONFIG, "time_since_restore", "timesteps_since_restore",
    "iterations_since_restore", "checkpoint_dir_name",
)  # fmt: skip
"""Fields that are added to what a trial reports."""

DEBUG_METRICS = (TRIAL_ID, "experiment_id", DATE, TIMESTAMP, PID, HOSTNAME, NODE_IP, CONFIG)
"""Fields that say where a result comes from."""

DEFAULT_EXPERIMENT_INFO_KEYS = ("trainable_name", EXPERIMENT_TAG, TRIAL_ID)
"""Fields that name a trial."""

DEFAULT_RESULT_KEYS = (TRAINING_ITERATION, TIME_TOTAL_S, MEAN_ACCURACY, MEAN_LOSS)
"""Fields that tables show first."""

CONFIG_PREFIX = CONFIG
"""The first part of a hyperparameter's name in a table: "config/lr"."""

DEFAULT_EXPERIMENT_NAME = "default"

DEFAULT_RESULTS_DIR = os.path.expanduser("~/overtone_results")

EXPR_ERROR_FILE = "error.txt"
EXPR_ERROR_PICKLE_FILE = "error.pkl"
EXPR_META_FILE = "trial_status.json"
EXPR_PARAM_FILE = "params.json"
EXPR_PARAM_PICKLE_FILE = "params.pkl"
EXPR_PROGRESS_FILE = "progress.csv"
EXPR_RESULT_FILE = "result.json"
JOB_META_FILE = "job_status.json"

RESULT_DUPLICATE = "__duplicate__"
STDERR_FILE = "__stderr_file__"
STDOUT_FILE = "__stdout_file__"
TRIAL_INFO = "__trial_info__"

TrainingResult = dict
"""The return value of a step in the first versions of the API: `TrainingResult(mean_accuracy=0.9)`."""
