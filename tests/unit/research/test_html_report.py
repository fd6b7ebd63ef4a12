from __future__ import annotations

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from overtone.errors import OvertoneError
from overtone.research import html_report as module
from overtone.research import plot_times_to_target, ranking, report

HOSTILE = '<script>alert("1")</script>&$x_1$'


def frame_of(methods=("fifo", HOSTILE), problems=("p", "q " + HOSTILE), target=1.0, error=""):
    rows = []
    for seed in range(2):
        for p, problem in enumerate(problems):
            for k, method in enumerate(methods):
                facts = {
                    "problem": problem, "family": "", "scheduler": method, "searcher": "random", "workers": "4",
                    "seed": seed, "metric": "loss_$", "mode": "min", "target": target, "error": "", "cost": 1.0,
                    "machine_s": 4.0, "lost_s": 0.0, "trial_s": 3.0, "n_trials": 2, "n_results": 5,
                }  # fmt: skip
                values = [(1.0 + seed, 3.0), (2.0 + k + p, 0.5 + 0.1 * k)]
                rows += [{**facts, "time_s": at, "value": one, "is_end": False} for at, one in values]
                rows.append({**facts, "time_s": 9.0, "value": values[-1][1], "is_end": True, "error": error})
    return pd.DataFrame(rows)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.sources = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]


class Plots:
    """In place of plots, which tests/slow draws."""

    def __getattr__(self, name):
        if name == "plot_critical_differences":
            return lambda frame: (ranking(frame), name)[1]
        return lambda frame: name


@pytest.fixture(autouse=True)
def plots(monkeypatch):
    monkeypatch.setattr(module, "plots", Plots())
    monkeypatch.setattr(module, "_image", lambda figure, what: f'<img alt="{what}" src="data:,{figure}">')


@pytest.fixture
def page(tmp_path):
    return report(frame_of(), tmp_path / "report.html", title="A & B").read_text("utf-8")


def test_the_page_has_every_table_and_plot_and_loads_nothing(page):
    found = Tags(page)
    assert found.tags.count("table") == 4
    assert found.tags.count("img") == 4
    assert found.sources == [
        "data:,plot_times_to_target", "data:,plot_incumbents", "data:,plot_ranks",
        "data:,plot_critical_differences",
    ]  # fmt: skip
    assert not {"script", "link", "iframe"} & {*found.tags}
    assert "default-src 'none'" in page


def test_names_are_shown_as_they_are(page):
    assert "<title>A &amp; B</title>" in page
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;$x_1$" in page


def test_the_tables_tell_times_and_ratios(page):
    text = re.sub(r"<[^>]+>", " ", page)
    assert re.search(r"\bp +2 +3 ", text)
    assert re.search(r"\bp +1\.00 +0\.67 ", text)
    assert "8 searches: 2 methods, 2 settings, 2 seeds; 16 trials and 40 results" in text


def test_without_targets_and_with_one_problem_it_says_what_is_missing(tmp_path):
    frame = frame_of(methods=["a", "b"], problems=["p"], target=float("nan"))
    broken = frame[frame["is_end"] & (frame["scheduler"] == "a")].assign(scheduler="c", error="boom <1>")
    text = report(pd.concat([frame, broken]), tmp_path / "r.html").read_text("utf-8")
    assert "Time to the target" not in text
    assert "Not shown: a ranking needs two problems and two methods, and there are 1 and 2." in text
    assert "c on p, 2 times: boom &lt;1&gt;" in text


def test_of_many_kinds_of_failures_some_are_listed_and_all_are_counted(tmp_path):
    frame = frame_of(methods=["a", "b"], problems=["p"])
    (end,) = frame[frame["is_end"] & (frame["scheduler"] == "a") & (frame["seed"] == 0)].index
    broken = [frame.loc[[end]].assign(scheduler="c", error=f"boom {n}") for n in range(13)]
    text = report(pd.concat([frame, *broken]), tmp_path / "r.html").read_text("utf-8")
    assert "13 searches failed and are left out" in text
    assert text.count("times: boom") == 10
    assert "<li>and 3 others</li>" in text


def test_a_comparison_where_every_search_failed_has_no_report(tmp_path):
    with pytest.raises(OvertoneError, match="every search failed, the first one with: boom"):
        report(frame_of(error="boom"), tmp_path / "r.html")


def test_a_baseline_must_be_there(tmp_path):
    with pytest.raises(ValueError, match="baseline='none': choose one of 'fifo'"):
        report(frame_of(), tmp_path / "r.html", baseline="none")


def test_what_methods_are_ranked_by():
    methods, found, what = ranking(frame_of())
    assert (methods, found.mean_ranks, what) == (["fifo", HOSTILE], (1.0, 2.0), "median time to the target")
    assert ranking(frame_of(target=float("nan")))[2] == "mean of the best value found"
    assert ranking(frame_of(), by="value")[1].mean_ranks == (1.0, 2.0)
    with pytest.raises(ValueError, match="by='size'"):
        ranking(frame_of(), by="size")


def test_no_plot_of_times_without_a_target():
    with pytest.raises(OvertoneError, match="there is no target"):
        plot_times_to_target(frame_of(target=float("nan")))
