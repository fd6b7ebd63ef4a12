"""Options of trials that only a cluster has: labels of nodes, and environments."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.errors import OvertoneError

pytestmark = pytest.mark.filterwarnings("default")

FORKED_OR_ACTOR = pytest.mark.parametrize(
    "uses_ray", [False, pytest.param(True, marks=pytest.mark.full)], ids=["forked", "actor"]
)
ACTOR_OR_FORKED = pytest.mark.parametrize(
    "uses_ray", [True, pytest.param(False, marks=pytest.mark.full)], ids=["actor", "forked"]
)


def sees(config: dict[str, Any]) -> None:
    import os

    names = ("OF_THE_TRIAL", "OF_THE_RUN", "OMP_NUM_THREADS")
    tune.report({"loss": 0.0, **{name: os.environ.get(name) for name in names}})


def run(engine: Any, seen: Any, folder: Path, count: int = 1, **options: Any) -> Any:
    return tune.run(
        tune.with_resources(sees, {"cpu": 1}, **options), num_samples=count, engine=engine, callbacks=[seen],
        storage_path=str(folder), metric="loss", mode="min", verbose=0,
    )  # fmt: skip


def test_trials_run_on_nodes_with_the_labels(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    _, nvme = nodes.add_all(
        *[{"num_cpus": 1, "labels": {"disk": disk, "rack": "1"}} for disk in ("ssd", "nvme")]
    )
    nodes.wait()
    for uses_ray, condition in [(False, "!ssd"), (True, "in(nvme, tape)")]:
        on, ones = engine(labels={"rack": "1"}), type(seen)()  # the head has no labels
        run(on, ones, tmp_path / f"{uses_ray}-{condition}", 2, ray=uses_ray, label_selector={"disk": condition})
        assert [event.node for event in ones.of(m.Started)] == [on.names[nvme.node_id]] * 2


@FORKED_OR_ACTOR
def test_trials_wait_for_a_node_with_the_labels(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path, until: Any, uses_ray: bool
) -> None:
    on = engine()
    started = tune.start(
        tune.with_resources(sees, {"cpu": 1}, ray=uses_ray, label_selector={"disk": "tape"}), num_samples=2,
        engine=on, callbacks=[seen], storage_path=str(tmp_path), metric="loss", mode="min", verbose=0,
    )  # fmt: skip
    until(lambda: on.waits() == "waiting for cpu 1: no node with the labels disk=tape has that now")
    nodes.add(num_cpus=1, labels={"disk": "tape"})
    assert [trial.status for trial in started.wait(timeout_s=300).trials] == ["TERMINATED"] * 2
    assert on.waits() == ""


@FORKED_OR_ACTOR
def test_trials_have_the_variables_of_their_environment(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path, uses_ray: bool
) -> None:
    for value in ("a", "b"):  # the second run of a driver does not get the first one's agent
        variables = {"OF_THE_TRIAL": value, "OMP_NUM_THREADS": "3"}
        run(engine(), seen, tmp_path / value, ray=uses_ray, runtime_env={"env_vars": variables})
    run(engine(), seen, tmp_path / "none", ray=uses_ray)
    metrics = [event.metrics for event in seen.of(m.Reported)]
    assert [one["OF_THE_TRIAL"] for one in metrics] == ["a", "b", None]
    assert [one["OMP_NUM_THREADS"] for one in metrics[:2]] == ["3", "3"]
    assert "OF_THE_TRIAL" not in os.environ


@ACTOR_OR_FORKED
def test_trials_run_with_the_files_and_modules_of_their_environment(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path, uses_ray: bool
) -> None:
    import shutil

    code = tmp_path / "code"
    code.mkdir()
    (code / "only_there.py").write_text("WHAT = 'of the environment'\n")
    (code / "data.txt").write_text("beside it")
    archive = shutil.make_archive(str(tmp_path / "code"), "zip", tmp_path, "code")

    def reads(config: dict[str, Any]) -> None:
        import only_there  # type: ignore[import-not-found]

        data = Path(os.environ["TUNE_ORIG_WORKING_DIR"], "data.txt").read_text()
        tune.report({"loss": 0.0, "what": only_there.WHAT, "data": data})

    tune.run(
        tune.with_resources(reads, {"cpu": 1}, ray=uses_ray, runtime_env={"working_dir": f"file://{archive}"}),
        engine=engine(), callbacks=[seen], storage_path=str(tmp_path), metric="loss", mode="min", verbose=0,
    )  # fmt: skip
    (result,) = seen.of(m.Reported)
    assert (result.metrics["what"], result.metrics["data"]) == ("of the environment", "beside it")


@pytest.mark.full
def test_trials_have_the_packages_of_their_environment(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    wheel = tmp_path / "only_in_the_wheel-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        info = "only_in_the_wheel-1.0.dist-info"
        file.writestr("only_in_the_wheel.py", "WHAT = 'of the wheel'\n")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: only_in_the_wheel\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")

    def imports(config: dict[str, Any]) -> None:
        import only_in_the_wheel  # type: ignore[import-not-found]

        tune.report({"loss": 0.0, "what": only_in_the_wheel.WHAT})

    for uses_ray in (False, True):  # the second run finds the packages in place
        tune.run(
            tune.with_resources(imports, {"cpu": 1}, ray=uses_ray, runtime_env={"pip": [str(wheel)]}),
            engine=engine(), callbacks=[seen], storage_path=str(tmp_path), metric="loss", mode="min",
            verbose=0,
        )  # fmt: skip
    assert [event.metrics["what"] for event in seen.of(m.Reported)] == ["of the wheel"] * 2


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"working_dir": "."}, r"Give local folders to the whole run, tune.ray_cluster\(runtime_env=...\)"),
        ({"env_var": {"A": "1"}}, "Ray does not know 'env_var'; it knows .*env_vars"),
        ({"env_vars": {"A": 1}}, "runtime_env="),
    ],
)
def test_an_environment_that_actors_cannot_have_is_an_error_at_once(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path, environment: dict[str, Any], told: str
) -> None:
    with pytest.raises(OvertoneError, match=told):
        run(engine(), seen, tmp_path, runtime_env=environment)
    assert not seen.of(m.Started)
