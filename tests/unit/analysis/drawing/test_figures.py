from __future__ import annotations

import io
import json
import sys
import warnings

import numpy as np
import pytest

from overtone.analysis.drawing import scene as s
from overtone.errors import MissingPackageError

HOSTILE = '<script>alert("1")</script>&$x_1$ %{x}'


def test_a_scene_is_json(hostile):
    text = json.dumps(s.plain_data(hostile), allow_nan=False)
    assert json.loads(text)["panels"][0]["marks"][0]["kind"] == "Band"


def test_plotly_shows_names_as_text(hostile):
    pytest.importorskip("plotly")
    from overtone.analysis.drawing.plotly_figure import plotly_figure

    figure = plotly_figure(hostile)
    text = figure.to_json()
    assert "<script" not in text
    assert "\\u003cscript" not in text
    assert all("$" not in (trace.name or "") for trace in figure.data)
    assert len({trace.xaxis for trace in figure.data}) == 4


def test_plotly_draws_bars_on_axes_of_any_scale(every_mark):
    pytest.importorskip("plotly")
    from overtone.analysis.drawing.plotly_figure import plotly_figure

    figure = plotly_figure(every_mark("name"))
    bars = next(trace for trace in figure.data if trace.type == "bar")
    np.testing.assert_array_equal(bars.base + bars.x, [1.0, 2.0, 3.0])
    assert figure.layout.xaxis3.type == "log"
    assert figure.layout.yaxis2.ticktext == ("name", "b", "c")


def test_matplotlib_draws_every_mark(hostile):
    pytest.importorskip("matplotlib")
    from overtone.analysis.drawing.matplotlib_figure import matplotlib_figure

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph|.*missing from font")
        figure = matplotlib_figure(hostile)
        figure.savefig(io.BytesIO(), format="png")
    assert len(figure.axes) == 5  # and the colour bar


def test_matplotlib_follows_a_dark_style(every_mark):
    pytest.importorskip("matplotlib")
    import matplotlib.style

    from overtone.analysis.drawing.matplotlib_figure import matplotlib_figure
    from overtone.analysis.drawing.palette import ROLES

    with matplotlib.style.context("dark_background"):
        figure = matplotlib_figure(every_mark("name"))
    colours = {line.get_color() for line in figure.axes[0].lines}
    assert ROLES["best"].dark in colours


@pytest.mark.parametrize("package", ["plotly", "matplotlib"])
def test_a_missing_package_is_named_with_its_extra(every_mark, monkeypatch, package):
    import importlib

    module = importlib.import_module(f"overtone.analysis.drawing.{package}_figure")
    for name in ("plotly.graph_objects", "matplotlib", "plotly"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match=r"overtone\[plot\]"):
        getattr(module, f"{package}_figure")(every_mark("name"))


@pytest.mark.parametrize("backend", ["plotly", "matplotlib"])
def test_an_empty_figure_says_why(backend):
    pytest.importorskip(backend)
    import importlib

    draw = getattr(
        importlib.import_module(f"overtone.analysis.drawing.{backend}_figure"), f"{backend}_figure"
    )
    figure = draw(s.Scene(HOSTILE, empty="No trial has a value."))
    shown = figure.to_json() if backend == "plotly" else figure.get_suptitle()
    assert "No trial has a value." in shown
