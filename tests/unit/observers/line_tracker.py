"""A tracker of lines in a file, which a test can stop, hang or kill."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from overtone.observers.trackers.tracker import TrackerCallback


class LineTracker(TrackerCallback):
    """Writes a line for each action. A file `down` beside the lines refuses them, a file `hang` blocks.

    Args:
        path: The file with the lines.
        whole: Whether unfinished runs are sent again whole, as by trackers that keep a run in memory.
    """

    kind, package, distribution = "lines", "json", "lines"

    def __init__(self, path, whole=False, wait_s=20.0, dies_at=0):
        super().__init__()
        self.path, self.sends_whole_runs, self.upload_timeout = Path(path), whole, wait_s
        self.dies_at = dies_at

    def settings(self):
        return {"path": str(self.path)}

    def log_trial_start(self, trial):
        self.do(self._begin, trial.trial_id, dict(trial.config))

    def log_trial_result(self, iteration, trial, result):
        self.do(self._write, trial.trial_id, "result", result["training_iteration"], result["score"])

    def log_trial_end(self, trial, failed=False):
        self.do(self._end, trial.trial_id, "FAILED" if failed else "FINISHED")

    def log_best(self, trial, before):
        self.do(self._write, trial.trial_id, "best")

    def on_experiment_end(self, trials, **info):
        for trial in trials:
            if not trial.is_finished():
                self.do(self._write, trial.trial_id, "KILLED")

    def _begin(self, trial_id, config):
        if self.sends_whole_runs:
            self.run_ids[trial_id] = trial_id
            self.keep()
        self._write(trial_id, "begin", config)

    def _end(self, trial_id, status):
        self._write(trial_id, status)
        self.run_ids.pop(trial_id, None)

    def _write(self, *line):
        while self.path.with_name("hang").exists():
            time.sleep(0.05)
        if self.path.with_name("down").exists():
            raise ConnectionError("the server is away")
        lines = self.lines()
        if list(line) not in lines:  # an action may be repeated
            with open(self.path, "a") as file:
                file.write(json.dumps(line) + "\n")
        if self.dies_at and len(lines) + 1 == self.dies_at:
            os._exit(9)

    def lines(self):
        """Return all lines."""
        return [json.loads(one) for one in self.path.read_text().splitlines()] if self.path.exists() else []
