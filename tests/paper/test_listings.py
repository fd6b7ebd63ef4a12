"""The articles' listings, run as a user runs them: `python listing.py`."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

LISTINGS = Path(__file__).parent / "listings"
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def listing(tmp_path):
    """Runs a listing in an empty home; gives its own lines as {first word: the rest}."""

    def run(name: str, timeout_s: float = 110) -> dict[str, str]:
        path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": path, "PYTHONWARNINGS": "default"}
        done = subprocess.run(
            [sys.executable, str(LISTINGS / name)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        run.output = done.stdout + done.stderr
        return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)

    return run


def experiments(home: Path) -> list[Path]:
    return sorted(path.parent for path in (home / "overtone_results").glob("*/journal.jsonl"))


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def test_the_papers_function(listing, tmp_path):
    said = listing("paper_function.py")
    assert (said["best"], said["trials"], said["checkpoint"]) == ("{'lr': 0.3}", "3", "True")
    (experiment,) = experiments(tmp_path)
    assert len(list(experiment.glob("*/checkpoint_*"))) >= 3


def test_the_papers_class(listing):
    said = listing("paper_class.py")
    assert (said["best"], said["trials"], said["checkpoint"]) == ("{'lr': 0.3}", "3", "True")


def test_function_and_class_report_the_same(listing, tmp_path):
    losses = []
    for name in ("paper_function.py", "paper_class.py"):
        listing(name)
    for experiment in experiments(tmp_path):
        rows = [table(path) for path in sorted(experiment.glob("*/progress.csv"))]
        losses.append([[row["mean_loss"] for row in trial] for trial in rows])
    assert len(losses) == 2
    assert [len(trial) for trial in losses[0]] == [8, 8, 8]
    assert losses[0] == losses[1]


def test_the_papers_minimal_example(listing):
    said = listing("paper_minimal.py")
    assert said["trials"] == "6"
    assert said["best"] == "{'lr': 0.01, 'activation': 'relu'}"


def test_the_papers_scheduling_api(listing):
    # slope 1 was the only one to choose from; then 4, which the others are compared with
    assert listing("paper_scheduler.py")["iterations"] == "[5, 1, 1, 5]"


def test_the_papers_data_input(listing):
    assert listing("paper_data.py")["best"] == str(2 * 499999500000.0)


def test_the_articles_grid_is_repeated(listing):
    said = listing("article_grid.py")
    assert said["trials"] == "9 18"
    grid = [(x, y) for y in "abc" for x in (1, 2, 3)]  # keys sorted, the first varies fastest
    assert said["order"] == str(grid)


def test_the_articles_trainable(listing, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("pandas")
    said = listing("article_trainable.py")
    assert said["Best"].startswith("config is: {'lr': 0.")
    assert len(table(tmp_path / "result.csv")) == 4
    assert "== Status ==" in listing.output
    assert "Number of trials: 4/4 (4 TERMINATED)" in listing.output
    assert "Using AsyncHyperBand: num_stopped=" in listing.output


def test_the_articles_tutorial(listing, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    said = listing("article_tutorial.py")
    assert said["epochs"] == "[[1, 2, 3, 4]]"
    assert said["trials"] == "4"
    assert (tmp_path / "accuracy.png").stat().st_size > 1000
    assert len(experiments(tmp_path)) == 2


def test_the_dialect_of_0x(listing, tmp_path):
    said = listing("dialect_0x.py")
    assert said["trials"] == "6"
    assert said["last"] == str([(0.4, 20), (0.4, 20), (0.8, 20), (0.8, 20), (1.2, 20), (1.2, 20)])
    assert [path.name for path in experiments(tmp_path)] == ["my_experiment"]


def test_the_dialect_of_1x(listing):
    said = listing("dialect_1x.py")
    assert said["best"] == "4.0 4"
    assert said["folder"] == "True"


def test_the_dialect_of_2x(listing):
    said = listing("dialect_2x.py")
    assert said["best"] == "{'lr': 0.1} 0.025"
    assert (said["epoch"], said["trials"], said["frame"]) == ("3", "3 errors 0", "3")
