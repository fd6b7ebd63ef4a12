"""overtone report --static: one file that loads nothing and runs nothing."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import re
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

import pytest

from overtone import tune
from overtone.cli import main
from overtone.cli.output_file import open_output
from overtone.errors import OvertoneError

HOSTILE = "<script>alert(1)</script>"


def train(config):
    for t in range(1, 4):
        if 0.2 < config["x"] < 0.5 and t == 2:
            raise ValueError(f"{HOSTILE} broke")
        tune.report({"loss": config["x"] + 1 / t, HOSTILE: float(t)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("results")
    space = {"x": tune.uniform(0, 1), HOSTILE: tune.choice([HOSTILE, "b"]), "y" * 300: tune.uniform(0, 1)}
    for name, seed in (("first", 1), ("second", 2)):
        tune.run(
            train, config=space, num_samples=20, metric="loss", mode="min", name=name, verbose=0, seed=seed,
            storage_path=str(path), raise_on_failed_trial=False,
            scheduler=tune.create_scheduler("asha", max_t=3, grace_period=1), engine=tune.Simulated(),
        )  # fmt: skip
    return path


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]

    def handle_data(self, data):
        self.texts.append(data)


def report(folder, *names, options=()):
    output = folder / "report.html"
    assert main(["report", *names, "--static", "--dir", str(folder), "-o", str(output), *options]) == 0
    return output.read_text("utf-8")


def test_nothing_is_loaded_and_nothing_runs(folder, capsys):
    text = report(folder, "first")
    page = Elements(text)
    allowed = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "div", "span", "br", "dl", "dt", "dd",
               "pre", "table", "thead", "tbody", "tr", "th", "td", "figure", "svg", "g", "path", "text", "rect", "circle"}  # fmt: skip
    assert set(page.tags) <= allowed
    names = {name for _, name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")} | (
        names & {"style", "src", "href", "srcset"}
    )
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)


def test_the_policy_allows_the_style_sheet_alone(folder):
    text = report(folder, "first")
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.split("; ")[:2] == ["default-src 'none'", f"style-src 'sha256-{digest}'"]


def test_the_best_configuration_and_tables_are_there(folder):
    analysis = tune.ExperimentAnalysis(folder / "first")
    text = report(folder, "first")
    texts = "".join(Elements(text).texts)
    assert analysis.best_trial.trial_id in texts
    assert f'"x": {analysis.best_config["x"]!r}' in texts
    assert "y" * 300 in texts
    for heading in (
        "Best configuration",
        "Best trials",
        "Failures",
        "Search settings",
        "Story of the best trials",
        "Rungs",
    ):
        assert heading in texts
    assert "ValueError" in texts
    assert "ASHA" in texts
    assert "Python" in texts


def test_several_experiments_are_compared(folder):
    text = report(folder, "first", "second")
    assert "2 experiments compared" in text
    assert text.count("Best configuration") == 2


def test_an_experiment_without_results_has_a_report(folder, tmp_path):
    tune.run(
        lambda config: None,
        config={"x": 1},
        name="empty",
        storage_path=str(tmp_path),
        verbose=0,
        engine=tune.Simulated(),
    )
    assert "empty" in report(tmp_path, "empty")


def test_another_metric_may_be_named(folder):
    text = report(folder, "first", options=["--metric", HOSTILE, "--mode", "max"])
    assert "<script" not in text


def test_what_cannot_be_written_is_said(folder, capsys):
    assert main(["report", "first", "--dir", str(folder), "-o", str(folder / "missing" / "report.html")]) != 0
    assert "missing" in capsys.readouterr().err


def test_a_device_is_written_to_and_never_replaced(folder, capsys, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(pipe.read_bytes)
        assert main(["report", "first", "--dir", str(folder), "-o", str(pipe)]) == 0
        assert found.result(timeout=60).startswith(b"<!doctype html>")
    assert pipe.is_fifo()


def test_a_link_stays_one(folder, tmp_path):
    (tmp_path / "link.html").symlink_to("real.html")
    (tmp_path / "real.html").write_text("before")
    assert main(["report", "first", "--dir", str(folder), "-o", str(tmp_path / "link.html")]) == 0
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text().startswith("<!doctype html>")


def test_a_report_may_go_to_standard_output(folder, capfdbinary):
    assert main(["report", "first", "--dir", str(folder), "-o", "-"]) == 0
    out = capfdbinary.readouterr().out
    assert out.startswith(b"<!doctype html>")
    assert out.endswith(b"</html>\n")


def test_a_folder_is_not_an_output(folder, capsys):
    assert main(["report", "first", "--dir", str(folder), "-o", str(folder)]) != 0
    assert "is a folder" in capsys.readouterr().err


def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path):
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    named = pytest.raises(OvertoneError, match=r"report\.html cannot be written: No space left")
    with named, open_output(str(tmp_path / "report.html")):
        raise error
    assert not list(tmp_path.glob("report*"))
