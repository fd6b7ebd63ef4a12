"""Times, decimals, UUIDs and paths in results and configs, from the trial to every reader."""

import csv
import json
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from overtone import tune
from overtone.analysis import ExperimentAnalysis

WHEN = datetime(2026, 11, 23, 1, 2, 3, tzinfo=timezone.utc)
PRICE = Decimal("1.10")
KEY = UUID("12345678-1234-5678-1234-567812345678")
PLACE = Path("/data/a b.csv")

REPORTED = {"when": WHEN, "price": PRICE, "nested": {"key": KEY, "places": [PLACE, None]}}


def reports(config):
    assert (config["since"], config["file"], config["deep"]["cost"]) == (WHEN, PLACE, PRICE)
    assert config["both"][0] == KEY
    for step in range(3):
        tune.report({"loss": step, **REPORTED, "raised": ValueError("odd")})


class Seen(tune.Callback):
    def __init__(self):
        self.results = []

    def on_trial_result(self, iteration, trials, trial, result, **info):
        self.results.append(result)


@pytest.fixture(params=["local", "inline"])
def analysis(request, tmp_path):
    seen = Seen()
    with pytest.warns(UserWarning, match="'raised'") if request.param == "inline" else _nothing():
        found = tune.run(
            reports,
            config={
                "since": WHEN,
                "file": tune.choice([PLACE]),
                "deep": {"cost": tune.grid_search([PRICE])},
                "both": (KEY, 1),
            },
            metric="loss",
            mode="min",
            engine=request.param,
            storage_path=str(tmp_path),
            name="exp",
            callbacks=[seen],
            verbose=0,
        )
    found.seen = seen
    return found


def _nothing():
    from contextlib import nullcontext

    return nullcontext()


def own(result):
    return {name: result[name] for name in REPORTED}


def test_everywhere_in_python_they_are_what_was_reported(analysis):
    assert [own(one) for one in analysis.seen.results] == [REPORTED] * 3
    for again in (analysis, ExperimentAnalysis(analysis.experiment_path)):
        trial = again.trials[0]
        assert own(trial.last_result) == REPORTED
        assert trial.last_result["raised"] == "ValueError('odd')"
        assert trial.config == {"since": WHEN, "file": PLACE, "deep": {"cost": PRICE}, "both": (KEY, 1)}
        assert trial.evaluated_params == {"file": PLACE, "deep/cost": PRICE}
        frame = trial.frame()
        assert frame["when"].tolist() == [WHEN] * 3
        assert frame["price"].tolist() == [PRICE] * 3
        assert frame["nested/key"].tolist() == [KEY] * 3
        assert frame["config/file"].tolist() == [PLACE] * 3


def test_files_show_them_as_text_and_numbers(analysis):
    folder = Path(analysis.trials[0].local_path)
    lines = [json.loads(line) for line in (folder / "result.json").read_text().splitlines()]
    assert lines[2]["when"] == "2026-11-23T01:02:03+00:00"
    assert lines[2]["price"] == 1.1
    assert lines[2]["nested"] == {"key": str(KEY), "places": [str(PLACE), None]}
    assert lines[2]["config"]["file"] == str(PLACE)
    with (folder / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[1]["when"] == "2026-11-23 01:02:03+00:00"
    assert (rows[1]["price"], rows[1]["nested/key"]) == ("1.10", str(KEY))
    assert rows[1]["config/since"] == "2026-11-23 01:02:03+00:00"
    params = json.loads((folder / "params.json").read_text())
    assert params["deep"] == {"cost": 1.1}
    assert params["since"] == "2026-11-23T01:02:03+00:00"


def test_a_decimal_is_a_scalar_for_tensorboard(analysis):
    data = b"".join(path.read_bytes() for path in Path(analysis.trials[0].local_path).glob("events.out*"))
    assert b"tune/price" in data
    assert b"tune/when" not in data


def test_a_resume_needs_nothing_to_be_passed_again(analysis):
    again = tune.run(
        reports, resume=True, name="exp", storage_path=str(Path(analysis.experiment_path).parent), verbose=0
    )
    assert own(again.trials[0].last_result) == REPORTED
    assert again.trials[0].config["since"] == WHEN
