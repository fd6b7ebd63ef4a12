"""Kept for imports of `air.result`."""

from overtone.analysis import Result
from overtone.tune.result import EXPR_ERROR_PICKLE_FILE, EXPR_PROGRESS_FILE, EXPR_RESULT_FILE

__all__ = ["EXPR_ERROR_PICKLE_FILE", "EXPR_PROGRESS_FILE", "EXPR_RESULT_FILE", "Result"]
