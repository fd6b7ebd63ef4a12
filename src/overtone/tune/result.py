"""Names of a result's fields and files, as scripts import them from `tune.result`."""

from __future__ import annotations

import os

CONFIG = "config"
DATE = "date"
DONE = "done"
EPISODE_REWARD_MEAN = "episode_reward_mean"
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

DEFAULT_RESULTS_DIR = os.path.expanduser("~/overtone_results")

EXPR_PARAM_FILE = "params.json"
EXPR_PROGRESS_FILE = "progress.csv"
EXPR_RESULT_FILE = "result.json"

TrainingResult = dict
"""The return value of a step in the first versions of the API: `TrainingResult(mean_accuracy=0.9)`."""
