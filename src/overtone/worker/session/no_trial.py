"""The context of code that no trial runs."""

from __future__ import annotations

import os
import warnings
from typing import Any

from overtone.worker.working_directory import ORIGINAL


class NoTrial:
    """A context without a trial: facts about a trial are None, and the process is the only rank.

    Code shared by trials and scripts can ask for its context anywhere, and a trainable can be called by
    itself to try it. Other calls that act on a trial are errors.
    """

    def report(self, metrics: Any = None, /, *, checkpoint: Any = None, **more: Any) -> None:
        """Warn that the result is not recorded.

        Raises:
            TrainableError: A trial started this process: only the trial's own process can report.
        """
        if ORIGINAL in os.environ:
            from overtone.worker.session.current import current

            current()
        warnings.warn(
            "no trial runs here: tune.report() records nothing outside of tune.run(trainable, ...) or "
            "Tuner(trainable, ...).fit()", stacklevel=3,
        )  # fmt: skip

    def _none(self) -> Any:
        """Return None: no trial runs here."""

    get_trial_id = get_trial_name = get_trial_dir = get_trial_resources = get_trial_seed = _none
    get_experiment_name = get_storage = get_checkpoint = _none

    def get_world_size(self) -> int:
        """Return 1."""
        return 1

    get_local_world_size = get_world_size

    def get_world_rank(self) -> int:
        """Return 0."""
        return 0

    get_local_rank = get_node_rank = get_world_rank

    def get_metadata(self) -> dict[str, Any]:
        """Return an empty dict."""
        return {}

    def __getattr__(self, name: str) -> Any:
        from overtone.worker.session.current import current

        return getattr(current(), name)
