"""The trial that started this program, as a process of its own: `report` in a program reaches it.

The trial hands its facts over in the environment: docs/sweep.md lists the variables.
"""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from overtone.errors import TrainableError, TrialHalted
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.session.metrics import encoded, merged
from overtone.worker.session.no_trial import NoTrial

SOCKET = "OVERTONE_REPORT_SOCKET"
"""Environment variable with the path of the socket that takes reports."""

CONFIG = "OVERTONE_CONFIG"
TRIAL_ID = "OVERTONE_TRIAL_ID"
TRIAL_DIR = "OVERTONE_TRIAL_DIR"
CHECKPOINT_DIR = "OVERTONE_CHECKPOINT_DIR"
EXPERIMENT = "OVERTONE_EXPERIMENT"
SEED = "OVERTONE_TRIAL_SEED"
ITERATION = "OVERTONE_ITERATION"


class ParentTrial(NoTrial):
    """The context of a program that a trial runs."""

    def report(self, metrics: Any = None, /, *, checkpoint: Any = None, **more: Any) -> None:
        """Report a result, and wait if the scheduler may have to decide.

        Raises:
            TrialHalted: The trial should end: let it pass, and the program ends.
            TrainableError: The trial has refused the result, or is gone.
        """
        values = merged(metrics, None, more)
        request = {"checkpoint": None if checkpoint is None else str(Path(checkpoint).absolute())}
        line = json.dumps(request)[1:-1].encode()
        answer = _asked(b'{"metrics": ' + encoded(values, set()).encode() + b", " + line + b"}\n")
        if answer.get("error"):
            raise TrainableError(f"the trial refused a result: {answer['error']}")
        if answer.get("halt"):
            raise TrialHalted("this trial was told to end")

    @property
    def params(self) -> dict[str, Any]:
        """The trial's config."""
        found = json.loads(os.environ.get(CONFIG, "{}"))
        return found if isinstance(found, dict) else {}

    @property
    def iteration(self) -> int:
        """Number of results at the start of the program, those before a restore."""
        return int(os.environ.get(ITERATION, "0"))

    def get_checkpoint(self) -> Checkpoint | None:
        """Return the checkpoint folder if the trial resumes from a checkpoint; else None."""
        folder = os.environ.get(CHECKPOINT_DIR, "")
        if not self.iteration or not os.path.isdir(folder) or not os.listdir(folder):
            return None
        return Checkpoint(folder)

    def get_trial_id(self) -> str:
        """Return the trial's id."""
        return os.environ.get(TRIAL_ID, "")

    def get_trial_dir(self) -> str:
        """Return the trial's folder."""
        return os.environ.get(TRIAL_DIR, "")

    def get_experiment_name(self) -> str:
        """Return the name of the experiment's folder."""
        return os.environ.get(EXPERIMENT, "")

    def get_trial_seed(self) -> int:
        """Return the trial's seed, which is the same in each attempt."""
        return int(os.environ.get(SEED, "0"))


def _asked(request: bytes) -> dict[str, Any]:
    """Send a request to the trial, and return its answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        try:
            line.connect(os.environ[SOCKET])
            line.sendall(request)
            with line.makefile("rb") as answers:
                answer = answers.readline()
        except OSError as error:
            raise TrainableError(f"the trial that started this program is gone: {error}") from None
    if not answer.endswith(b"\n"):
        raise TrainableError("the trial that started this program has ended")
    found = json.loads(answer)
    return found if isinstance(found, dict) else {}
