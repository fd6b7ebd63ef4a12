"""The end of user code in this process, as its engine is told."""

from __future__ import annotations

from overtone.core.job import Job
from overtone.core.messages import Cause
from overtone.core.sizes import shorten
from overtone.errors import GangError
from overtone.worker.tracebacks import LONGEST_ERROR, in_one_line, user_part
from overtone.worker.trial_gpu_memory import is_out_of_memory
from overtone.worker.working_directory import missing_file_advice


def raised_end(error: BaseException, job: Job, counts_gpu_memory: bool = False) -> tuple[Cause, str, str]:
    """Return the end of code that raised: cause, one line, and the user's part of the traceback.

    Args:
        counts_gpu_memory: Whether the trial asked for GPU memory, so that too little of it is no failure.
    """
    from traceback import format_exception

    line = in_one_line(error)
    if isinstance(error, GangError):  # it has the rank's traceback; the head's frames only say that it waited
        shown = f"GangError: {error}\n"
    else:
        shown = "".join(format_exception(type(error), error, user_part(error.__traceback__)))
    if job.chdir_to_trial_dir and (advice := missing_file_advice(error)):
        line, shown = f"{line} ({advice})", f"{shown}{advice}\n"
    cause: Cause = "out_of_memory" if counts_gpu_memory and is_out_of_memory(error) else "raised"
    return cause, line[:LONGEST_ERROR], shorten(shown)
