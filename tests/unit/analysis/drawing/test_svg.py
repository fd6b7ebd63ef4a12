from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.svg import svg
from overtone.analysis.drawing.svg_style import style_sheet

NS = "{http://www.w3.org/2000/svg}"
ALLOWED = {"svg", "g", "path", "text", "title", "rect", "circle", "style"}


def parsed(scene, width=860.0):
    text = svg(scene, width, has_style=False)
    text.encode()  # no half of a pair of surrogates
    return ET.fromstring(text), text


def texts_of(root):
    return [element.text for element in root.iter(f"{NS}text") if element.text]


@pytest.mark.parametrize("width", [900.0, 358.0])
def test_names_are_text_whatever_they_hold(hostile, width):
    root, _ = parsed(hostile, width)
    assert {element.tag.removeprefix(NS) for element in root.iter()} <= ALLOWED
    for element in root.iter():
        assert not [
            name for name in element.attrib if name.startswith("on") or "href" in name or name == "style"
        ]


@pytest.mark.parametrize("width", [900.0, 358.0])
def test_texts_stay_within_the_figure(hostile, width):
    root, _ = parsed(hostile, width)
    for element in root.iter(f"{NS}text"):
        x, anchor = float(element.get("x")), element.get("anchor", "start")
        assert -1 <= x <= width + 1, (anchor, element.text)
        assert len(element.text or "") < width / 3


def test_shortened_names_have_their_full_text_as_title(every_mark):
    name = "optimizer/" + "part/" * 60 + "learning_rate"
    root, _ = parsed(every_mark(name), 358.0)
    titles = {element.text for element in root.iter(f"{NS}title")}
    assert any(name[:300] in title for title in titles)
    assert any(
        text.startswith("opt") and text.endswith("ate") and "\u2026" in text for text in texts_of(root)
    )


def test_numbers_of_places_are_finite(hostile):
    _, text = parsed(hostile)
    assert "nan" not in re.sub(r"<(text|title)[^>]*>[^<]*<", "", text)
    assert "inf" not in re.sub(r"<(text|title)[^>]*>[^<]*<|aria-label=\"[^\"]*\"", "", text)


def test_points_beyond_a_number_are_one_path():
    n = 5000
    x = np.random.default_rng(0).random((2, n))
    points = s.Points(x[0], x[1], hover=["text"] * n)
    text = svg(s.Scene("t", (s.Panel(s.Axis("x"), s.Axis("y"), (points,)),)), has_style=False)
    assert len(text) < 30 * n
    assert "text" not in re.findall(r"<title>(.*?)</title>", text)


def test_a_narrow_figure_has_one_column():
    panels = tuple(
        s.Panel(s.Axis(f"x{i}"), s.Axis("y"), (s.Points(np.ones(1), np.ones(1)),)) for i in range(3)
    )
    scene = s.Scene("t", panels, columns=3)
    heights = [float(parsed(scene, width)[0].get("height")) for width in (358.0, 600.0, 860.0)]
    assert all(a > b for a, b in pairwise(heights))


def test_an_empty_figure_says_why():
    root, _ = parsed(s.Scene("Title", empty="No trial has a value."))
    assert "No trial has a value." in texts_of(root)


def test_both_pages_have_every_colour():
    sheet = style_sheet()
    light, dark = sheet.split("prefers-color-scheme:dark")[:2]
    names = set(re.findall(r"(--[a-z0-9]+):", light))
    assert {"--best", "--page", "--shade0"} <= names
    assert names == set(re.findall(r"(--[a-z0-9]+):", dark.split("@media print")[0]))
    assert "url(" not in sheet
    assert "@import" not in sheet
