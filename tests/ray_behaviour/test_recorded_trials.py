"""What trials of an analysis, schedulers by hand and requests for resources tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from subject import covers, part, tune


class Counts(tune.Trainable):
    def setup(self, config):
        self.count = 0

    def step(self):
        self.count += 1
        if self.config.get("fails_at") == self.count:
            raise ValueError("no such thing")
        return {"count": self.count, "done": self.count == 4}

    def save_checkpoint(self, checkpoint_dir):
        Path(checkpoint_dir, "count").write_text(str(self.count))

    def load_checkpoint(self, checkpoint):
        self.count = int(Path(checkpoint, "count").read_text())


@covers(
    "tune.experiment.Trial.checkpoint_at_end",
    "tune.experiment.Trial.checkpoint_freq",
    "tune.experiment.Trial.has_reported_at_least_once",
    "tune.experiment.Trial.is_restoring",
    "tune.experiment.Trial.is_saving",
    "tune.experiment.Trial.latest_checkpoint_result",
    "tune.experiment.Trial.local_experiment_path",
    "tune.experiment.Trial.remote_experiment_path",
)
def test_a_trial_tells_what_it_did(search, tmp_path):
    saving = tune.CheckpointConfig(checkpoint_frequency=3, checkpoint_at_end=True)
    analysis = search(Counts, name="mine", checkpoint_config=saving)
    (trial,) = analysis.trials
    assert (trial.checkpoint_freq, trial.checkpoint_at_end) == (3, True)
    assert trial.has_reported_at_least_once
    assert not trial.is_saving
    assert not trial.is_restoring
    newest = trial.latest_checkpoint_result
    assert newest.metrics["count"] == 4
    assert Path(newest.checkpoint.path, "count").read_text() == "4"
    assert "mine" in Path(trial.local_experiment_path).parts[-2:]
    assert Path(trial.remote_experiment_path) == tmp_path / "results" / "mine"


@covers("tune.experiment.Trial.get_pickled_error", "tune.experiment.Trial.num_failures_after_restore")
def test_a_failed_trial_has_its_error(search):
    analysis = search(Counts, config={"fails_at": 2}, raise_on_failed_trial=False)
    (trial,) = analysis.trials
    assert trial.status == "ERROR"
    assert "no such thing" in str(trial.get_pickled_error())
    assert trial.num_failures_after_restore in (0, 1)


@covers(
    "tune.schedulers.TrialScheduler.save: checkpoint_path",
    "tune.schedulers.TrialScheduler.restore: checkpoint_path",
)
def test_a_scheduler_is_saved_by_hand(tmp_path):
    def asha():
        return tune.schedulers.ASHAScheduler(max_t=9)

    known, new = asha(), asha()
    known.set_search_properties("loss", "min")
    known.save(str(tmp_path / "scheduler"))
    assert new.metric is None
    new.restore(str(tmp_path / "scheduler"))
    assert new.metric == "loss"


@covers(
    "air.ResourceRequest: bundles strategy",
    "air.ResourceRequest.bundles",
    "air.ResourceRequest.head_bundle_is_empty",
    "air.ResourceRequest.head_cpus",
    "air.ResourceRequest.required_resources",
    "air.ResourceRequest.strategy",
)
def test_a_request_for_resources_tells_its_sum():
    request = part("air").ResourceRequest([{"CPU": 1}, {"CPU": 2, "GPU": 1}], strategy="SPREAD")
    assert request.bundles == [{"CPU": 1}, {"CPU": 2, "GPU": 1}]
    assert request.required_resources == {"CPU": 3, "GPU": 1}
    assert (request.head_cpus, request.strategy) == (1, "SPREAD")
    assert not request.head_bundle_is_empty
    assert part("air").ResourceRequest([{}, {"CPU": 1}]).head_bundle_is_empty


@pytest.mark.parametrize(
    "home", ["air.execution", "air.execution.resources", "air.execution.resources.request"]
)
@covers(
    "air.execution.ResourceRequest",
    "air.execution.resources.ResourceRequest",
    "air.execution.resources.request.ResourceRequest",
)
def test_requests_are_the_same_from_their_modules(home):
    assert part(home).ResourceRequest is part("air").ResourceRequest
