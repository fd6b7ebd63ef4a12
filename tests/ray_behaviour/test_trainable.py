"""The class API: `Trainable` and its hooks; `with_parameters`, `with_resources`; resources."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from subject import covers, part, tune


class Counter(tune.Trainable):
    def setup(self, config):
        self.count = config.get("start", 0)

    def step(self):
        self.count += 1
        return {"count": self.count, "done": self.count >= config_end(self.config)}

    def save_checkpoint(self, checkpoint_dir):
        Path(checkpoint_dir, "count").write_text(str(self.count))

    def load_checkpoint(self, checkpoint):
        self.count = int(Path(checkpoint, "count").read_text())

    def reset_config(self, new_config):
        self.count = new_config.get("start", 0)
        return True


def config_end(config):
    return config.get("end", 3)


@covers("tune.Trainable.setup: config", "tune.Trainable.step")
def test_a_class_is_set_up_with_its_config(search):
    (trial,) = search(Counter, config={"start": 5, "end": 8}).trials
    assert trial.last_result["count"] == 8
    assert trial.last_result["training_iteration"] == 3


@covers("tune.Trainable.cleanup")
def test_cleanup_is_called(search, tmp_path):
    class Cleans(Counter):
        def cleanup(self):
            (tmp_path / "cleaned").touch()

    search(Cleans)
    assert (tmp_path / "cleaned").exists()


@covers("tune.Trainable.save_checkpoint: checkpoint_dir", "tune.Trainable.load_checkpoint: checkpoint")
def test_a_class_resumes_from_its_checkpoint(search, tmp_path):
    class Fails(Counter):
        def step(self):
            result = super().step()
            if self.count == 2 and not (tmp_path / "mark").exists():
                (tmp_path / "mark").touch()
                raise RuntimeError("once")
            return {**result, "restored": self.iterations_restored}

        iterations_restored = 0

        def load_checkpoint(self, checkpoint):
            super().load_checkpoint(checkpoint)
            self.iterations_restored = self.count

    (trial,) = search(Fails, max_failures=1, checkpoint_freq=1).trials
    assert trial.last_result["restored"] == 1
    assert trial.last_result["count"] == 3


@covers("tune.Trainable.save_checkpoint: checkpoint_dir", "tune.Trainable.load_checkpoint: checkpoint")
def test_a_checkpoint_may_be_a_dict(search, tmp_path):
    class Keeps(tune.Trainable):
        def setup(self, config):
            self.state = {"count": 0}

        def step(self):
            self.state["count"] += 1
            if self.state["count"] == 2 and not (tmp_path / "mark").exists():
                (tmp_path / "mark").touch()
                raise RuntimeError("once")
            return {**self.state, "done": self.state["count"] >= 3}

        def save_checkpoint(self, checkpoint_dir):
            return dict(self.state)

        def load_checkpoint(self, checkpoint):
            (tmp_path / "loaded").write_text(json.dumps({key: checkpoint[key] for key in ("count",)}))
            self.state = {"count": checkpoint["count"]}

    (trial,) = search(Keeps, max_failures=1, checkpoint_freq=1).trials
    assert trial.last_result["count"] == 3
    assert json.loads((tmp_path / "loaded").read_text()) == {"count": 1}


@covers("tune.Trainable.iteration", "tune.Trainable.training_iteration", "tune.Trainable.trial_id", "tune.Trainable.trial_name",
        "tune.Trainable.trial_resources", "tune.Trainable.logdir", "tune.Trainable.get_config")  # fmt: skip
def test_a_trainable_knows_itself(search):
    class Tells(tune.Trainable):
        def step(self):
            return {
                "at": self.iteration, "also_at": self.training_iteration, "id": self.trial_id, "name": self.trial_name,
                "cpus": self.trial_resources.required_resources["CPU"], "logdir": self.logdir, "x": self.get_config()["x"],
                "done": self.iteration >= 1,
            }  # fmt: skip

    (trial,) = search(
        Tells, config={"x": 4}, trial_name_creator=lambda trial: "the_name", resources_per_trial={"cpu": 2}
    ).trials
    last = trial.last_result
    assert (last["at"], last["also_at"]) == (1, 1)
    assert last["id"] == trial.trial_id
    assert last["name"] == "the_name"
    assert last["cpus"] == 2
    assert last["x"] == 4
    assert Path(last["logdir"]).name == Path(trial.path).name


@covers("tune.Trainable.log_result: result")
def test_a_trainable_logs_its_results(search, tmp_path):
    class Logs(Counter):
        def log_result(self, result):
            (tmp_path / f"logged_{result['count']}").touch()
            super().log_result(result)

    search(Logs)
    assert len(list(tmp_path.glob("logged_*"))) == 3


@covers("tune.Trainable.default_resource_request: config")
def test_a_class_asks_for_its_resources(search):
    class Asks(Counter):
        @classmethod
        def default_resource_request(cls, config):
            return tune.PlacementGroupFactory([{"CPU": config["cpus"]}])

    (trial,) = search(Asks, config={"cpus": 2}).trials
    assert trial.placement_group_factory.required_resources["CPU"] == 2


@covers("tune.Trainable.resource_help: config")
def test_a_class_has_a_help_for_its_resources():
    assert isinstance(Counter.resource_help({}), str)


@covers("tune.Trainable: config", "tune.Trainable.train", "tune.Trainable.stop")
def test_a_trainable_is_trained_by_hand():
    trainable = Counter(config={"start": 2})
    result = trainable.train()
    assert result["count"] == 3
    assert result["training_iteration"] == 1
    assert trainable.iteration == 1
    trainable.stop()


@covers("tune.Trainable.save: checkpoint_dir", "tune.Trainable.restore: checkpoint_path")
def test_a_trainable_is_saved_and_restored_by_hand(tmp_path):
    trainable = Counter(config={})
    trainable.train()
    trainable.train()
    (tmp_path / "saved").mkdir()
    saved = trainable.save(str(tmp_path / "saved"))
    other = Counter(config={})
    other.restore(saved)
    assert other.count == 2
    assert other.iteration == 2
    assert other.train()["count"] == 3


@covers("tune.Trainable.reset: new_config", "tune.Trainable.reset_config: new_config")
def test_a_trainable_is_reset_by_hand():
    trainable = Counter(config={"start": 2})
    trainable.train()
    assert trainable.reset({"start": 7})
    assert trainable.config == {"start": 7}
    assert trainable.train()["count"] == 8


@covers("tune.Trainable.train_buffered: buffer_time_s max_buffer_length")
def test_results_are_buffered():
    results = Counter(config={"end": 9}).train_buffered(buffer_time_s=10, max_buffer_length=4)
    assert [result["count"] for result in results] == [1, 2, 3, 4]


@covers("tune.Trainable.get_state", "tune.Trainable.is_actor", "tune.Trainable.get_current_ip_pid")
def test_a_trainable_has_a_state():
    trainable = Counter(config={})
    trainable.train()
    assert trainable.get_state()["iteration"] == 1
    assert trainable.is_actor() is False
    assert len(trainable.get_current_ip_pid()) == 2


@covers("tune.Trainable.get_auto_filled_metrics: now time_this_iter timestamp debug_metrics_only")
def test_a_trainable_fills_in_metrics():
    import datetime as dt

    metrics = Counter(config={}).get_auto_filled_metrics(
        now=dt.datetime(2024, 1, 2), time_this_iter=3.0, timestamp=5
    )
    assert metrics["time_this_iter_s"] == 3.0
    assert metrics["timestamp"] == 5
    assert "time_this_iter_s" not in Counter(config={}).get_auto_filled_metrics(debug_metrics_only=True)


@covers("tune.Trainable.export_model: export_formats export_dir")
def test_a_trainable_exports_by_hand(tmp_path):
    class Exports(Counter):
        def _export_model(self, export_formats, export_dir):
            return {name: str(Path(export_dir, name)) for name in export_formats}

    assert Exports(config={}).export_model("model", str(tmp_path)) == {"model": str(tmp_path / "model")}


@covers("tune.with_parameters: trainable")
def test_large_objects_go_beside_the_config(search):
    data = np.arange(100_000)

    def reads(config, data=None, name=""):
        return {"sum": int(data.sum()), "name": name}

    (trial,) = search(tune.with_parameters(reads, data=data, name="a"), config={"x": 1}).trials
    assert trial.last_result["sum"] == int(data.sum())
    assert trial.last_result["name"] == "a"
    assert trial.config == {"x": 1}


@covers("tune.with_parameters: trainable", "tune.trainable.with_parameters")
def test_a_class_gets_large_objects_in_its_setup(search):
    class Reads(tune.Trainable):
        def setup(self, config, data=None):
            self.data = data

        def step(self):
            return {"sum": int(self.data.sum()), "done": True}

    (trial,) = search(tune.with_parameters(Reads, data=np.ones(5))).trials
    assert trial.last_result["sum"] == 5


@covers("tune.with_resources: trainable resources")
@pytest.mark.parametrize(
    "resources",
    [
        {"cpu": 2},
        tune.PlacementGroupFactory([{"CPU": 2}]),
        lambda config: tune.PlacementGroupFactory([{"CPU": config["cpus"]}]),
    ],
)
def test_a_function_is_given_resources(tuned, search, resources):
    def told(config):
        return {"cpus": tune.get_context().get_trial_resources().required_resources["CPU"]}

    (result,) = tuned(tune.with_resources(told, resources), {"cpus": 2})
    assert result.metrics["cpus"] == 2


@covers("tune.with_resources: trainable resources")
def test_a_class_is_given_resources(search):
    (trial,) = search(tune.with_resources(Counter, {"cpu": 2})).trials
    assert trial.placement_group_factory.required_resources["CPU"] == 2


@covers("tune.PlacementGroupFactory: bundles strategy", "tune.PlacementGroupFactory.bundles", "tune.PlacementGroupFactory.strategy",
        "tune.PlacementGroupFactory.head_cpus", "tune.PlacementGroupFactory.required_resources", "tune.PlacementGroupFactory.head_bundle_is_empty")  # fmt: skip
def test_a_placement_group_factory_adds_up():
    factory = tune.PlacementGroupFactory(
        [{"CPU": 1}, {"CPU": 2, "GPU": 0.5}, {"CPU": 2, "GPU": 0.5}], strategy="SPREAD"
    )
    assert factory.bundles == [{"CPU": 1}, {"CPU": 2, "GPU": 0.5}, {"CPU": 2, "GPU": 0.5}]
    assert factory.strategy == "SPREAD"
    assert factory.head_cpus == 1
    assert factory.required_resources == {"CPU": 5, "GPU": 1}
    assert not factory.head_bundle_is_empty
    assert tune.PlacementGroupFactory([{}, {"CPU": 1}]).head_bundle_is_empty


@covers("tune.PlacementGroupFactory", "tune.execution.placement_groups.PlacementGroupFactory")
def test_placement_group_factories_are_compared():
    one, same, other = (tune.PlacementGroupFactory([{"CPU": cpus}]) for cpus in (1, 1, 2))
    assert one == same != other
    assert hash(one) == hash(same)
    assert part("tune.execution.placement_groups").PlacementGroupFactory is tune.PlacementGroupFactory


@covers("tune.PlacementGroupFactory: bundles")
def test_bundles_may_not_all_be_empty():
    with pytest.raises(ValueError):
        tune.PlacementGroupFactory([])


@covers("tune.execution.placement_groups.resource_dict_to_pg_factory: spec")
def test_a_dict_is_made_a_factory():
    make = part("tune.execution.placement_groups").resource_dict_to_pg_factory
    assert make({"cpu": 2, "gpu": 1, "custom_resources": {"other": 3}}).bundles == [
        {"CPU": 2, "GPU": 1, "other": 3}
    ]
    assert make(None).bundles == [{"CPU": 1}]


@covers("tune.run: resources_per_trial")
def test_resources_are_a_factory_of_bundles(search):
    (trial,) = search(
        Counter, resources_per_trial=tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}])
    ).trials
    assert trial.placement_group_factory.required_resources["CPU"] == 2


@covers(
    "tune.schedulers.resource_changing_scheduler.DistributeResources: add_bundles reserve_resources increase_by"
)
def test_resources_are_shared_out(search):
    module = part("tune.schedulers.resource_changing_scheduler")
    scheduler = tune.schedulers.ResourceChangingScheduler(
        resources_allocation_function=module.DistributeResources(
            add_bundles=False, increase_by={"CPU": 1}, reserve_resources={"CPU": 0}
        )
    )
    seen = set()

    class Looks(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            seen.add(trial.placement_group_factory.required_resources["CPU"])

    search(
        Counter,
        config={"end": 6},
        scheduler=scheduler,
        resources_per_trial={"cpu": 1},
        checkpoint_freq=1,
        callbacks=[Looks()],
    )
    assert max(seen) > 1


@covers("tune.trainable.wrap_function: train_func name")
def test_a_function_is_made_a_class(search):
    def once(config):
        tune.report({"x": config["x"]})

    wrapped = part("tune.trainable").wrap_function(once, name="named")
    assert issubclass(wrapped, tune.Trainable)
    assert getattr(wrapped, "_name", "named") == "named"
    assert search(wrapped, config={"x": 3}).trials[0].last_result["x"] == 3


@covers("tune.trainable.FunctionTrainable", "tune.trainable.Trainable", "tune.trainable.function_trainable.FunctionTrainable", "tune.trainable.function_trainable.wrap_function",
        "tune.trainable.util.with_parameters", "tune.trainable.util.with_resources", "tune.trainable.trainable.Trainable", "tune.trainable.wrap_function")  # fmt: skip
def test_trainables_have_their_modules():
    assert part("tune.trainable").Trainable is part("tune.trainable.trainable").Trainable is tune.Trainable
    assert part("tune.trainable.util").with_parameters is tune.with_parameters
    assert part("tune.trainable.util").with_resources is tune.with_resources
    assert issubclass(part("tune.trainable.function_trainable").FunctionTrainable, tune.Trainable)
    assert part("tune.trainable.function_trainable").wrap_function is part("tune.trainable").wrap_function


@covers("tune.Trainable")
def test_a_class_without_a_step_fails(search):
    class Lacks(tune.Trainable):
        pass

    with pytest.raises(Exception):
        search(Lacks)


@covers("tune.Trainable.step")
def test_a_step_returns_a_dict(search):
    class Wrong(tune.Trainable):
        def step(self):
            return 5

    with pytest.raises(tune.TuneError):
        search(Wrong, stop={"training_iteration": 2})


@covers("tune.result.DONE")
def test_a_class_ends_when_it_is_done(search):
    done = part("tune.result").DONE

    class Ends(tune.Trainable):
        def step(self):
            return {done: self.iteration >= 4}

    assert search(Ends).trials[0].last_result["training_iteration"] == 5
