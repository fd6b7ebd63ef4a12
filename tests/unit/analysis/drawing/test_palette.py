from __future__ import annotations

import pytest

from overtone.analysis.drawing.palette import FAINT_INK, INK, PAGE, ROLES, SHADES


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_meaning_is_seen_on_its_page(scheme):
    page = getattr(PAGE, scheme)
    for name, colour in ROLES.items():
        assert name == "page" or contrast(getattr(colour, scheme), page) >= 3, name
    assert contrast(getattr(INK, scheme), page) >= 7
    assert contrast(getattr(FAINT_INK, scheme), page) >= 4.5


def test_one_colour_has_one_meaning():
    same = {"trial": "completed"}
    colours = {}
    for name, colour in ROLES.items():
        if name not in same:
            assert colours.setdefault(colour, name) == name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shades_grow_lighter(scheme):
    found = [luminance(getattr(shade, scheme)) for shade in SHADES]
    assert found == sorted(found)
