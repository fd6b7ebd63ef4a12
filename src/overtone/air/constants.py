"""Names of fields and files, as scripts import them from `air.constants`."""

from overtone.train.constants import EVALUATION_DATASET_KEY, MODEL_KEY, PREPROCESSOR_KEY, TRAIN_DATASET_KEY
from overtone.tune.result import (
    EXPR_ERROR_FILE,
    EXPR_PARAM_FILE,
    EXPR_PROGRESS_FILE,
    EXPR_RESULT_FILE,
    TIME_THIS_ITER_S,
    TIMESTAMP,
    TRAINING_ITERATION,
)

__all__ = [
    "EVALUATION_DATASET_KEY",
    "EXPR_ERROR_FILE",
    "EXPR_PARAM_FILE",
    "EXPR_PROGRESS_FILE",
    "EXPR_RESULT_FILE",
    "MAX_REPR_LENGTH",
    "MODEL_KEY",
    "PREPROCESSOR_KEY",
    "TENSOR_COLUMN_NAME",
    "TIMESTAMP",
    "TIME_THIS_ITER_S",
    "TRAINING_ITERATION",
    "TRAIN_DATASET_KEY",
]

MAX_REPR_LENGTH = 120
TENSOR_COLUMN_NAME = "__value__"
