"""Names that scripts import from `train.constants`."""

import os

from overtone.tune.result import DEFAULT_RESULTS_DIR

__all__ = [
    "CHECKPOINT_DIR_NAME",
    "DEFAULT_STORAGE_PATH",
    "EVALUATION_DATASET_KEY",
    "MODEL_KEY",
    "PREPROCESSOR_KEY",
    "RAY_CHDIR_TO_TRIAL_DIR",
    "RESULT_FILE_JSON",
    "TIME_TOTAL_S",
    "TRAIN_CHECKPOINT_SUBDIR",
    "TRAIN_DATASET_KEY",
    "WORKER_HOSTNAME",
    "WORKER_NODE_IP",
    "WORKER_PID",
]

CHECKPOINT_DIR_NAME = "checkpoint_dir_name"
DEFAULT_STORAGE_PATH = os.fspath(DEFAULT_RESULTS_DIR)
EVALUATION_DATASET_KEY = "evaluation"
MODEL_KEY = "model"
PREPROCESSOR_KEY = "_preprocessor"
RAY_CHDIR_TO_TRIAL_DIR = "RAY_CHDIR_TO_TRIAL_DIR"
RESULT_FILE_JSON = "results.json"
TIME_TOTAL_S = "_time_total_s"
TRAIN_CHECKPOINT_SUBDIR = "checkpoints"
TRAIN_DATASET_KEY = "train"
WORKER_HOSTNAME = "_hostname"
WORKER_NODE_IP = "_node_ip"
WORKER_PID = "_pid"
