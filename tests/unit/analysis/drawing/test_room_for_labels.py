"""Labels are not cut, and do not lie over other panels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from overtone.analysis.drawing.labels import fitted, text_width
from overtone.analysis.drawing.scene import Axis, ColourBar, Line, Panel, Points, Scene
from overtone.analysis.drawing.svg import svg

LONG = "a_category_with_a_long_name"


def panels(n: int = 3) -> tuple[Panel, ...]:
    mark = Points(np.arange(2.0), np.arange(2.0))
    return tuple(Panel(Axis("x"), Axis("kind", "category", (LONG, "b")), (mark,)) for _ in range(n))


def test_the_bracket_of_a_title_stays() -> None:
    text = fitted("validation_accuracy (higher is better)", 220, 12)
    assert "\N{HORIZONTAL ELLIPSIS}" in text
    assert text.endswith(" (higher is better)")
    assert text_width(text, 12) <= 220
    assert not fitted("validation_accuracy (higher is better)", 60, 12).endswith("(higher is better)")


def test_a_panel_beside_another_has_room_for_its_labels() -> None:
    pytest.importorskip("plotly")
    from overtone.analysis.drawing.plotly_figure import plotly_figure

    figure = plotly_figure(Scene("title", panels(), columns=3))
    ends = [axis.domain for axis in (figure.layout.xaxis, figure.layout.xaxis2, figure.layout.xaxis3)]
    label = text_width(figure.layout.yaxis2.ticktext[0], 12)
    for left, right in pairwise(ends):
        assert (right[0] - left[1]) * 860 >= label + 20


def test_colours_of_lines_have_their_key() -> None:
    pytest.importorskip("plotly")
    from overtone.analysis.drawing.plotly_figure import plotly_figure

    line = Line(np.arange(2.0), np.arange(2.0), shade=0.5)
    scene = Scene("title", (Panel(Axis("x"), Axis("y"), (line,)),), colour_bar=ColourBar("rank", "0", "1"))
    assert any(trace.marker.coloraxis == "coloraxis" for trace in plotly_figure(scene).data)


def test_turned_labels_do_not_begin_left_of_the_figure() -> None:
    names = (LONG * 2, "b", "c", "d", "e", "f", "g")
    mark = Points(np.arange(7.0), np.arange(7.0))
    text = svg(
        Scene("title", (Panel(Axis("", "category", names), Axis(is_hidden=True), (mark,)),)), width=500
    )
    first = text.split("rotate(-55)")[0].rpartition("translate(")[2].split()[0]
    label = text.split("rotate(-55)")[1].split("</title>")[-1].split("</text>")[0].rpartition(">")[2]
    assert text_width(label, 12) * np.cos(np.radians(55)) <= float(first)
