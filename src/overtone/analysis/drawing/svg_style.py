"""The style sheet of SVG figures: colours as variables, for light and dark pages."""

from __future__ import annotations

from overtone.analysis.drawing.palette import FAINT_INK, GRID, INK, PAGE, ROLES, SHADES, Colour

_PLAIN = {"page": PAGE, "ink": INK, "faint": FAINT_INK, "grid": GRID}

_RULES = """\
.overtone-figure { background: var(--page); color: var(--ink); font: 12px system-ui, sans-serif; }
.overtone-figure text { fill: var(--ink); unicode-bidi: isolate; }
.overtone-figure .faint { fill: var(--faint); }
.overtone-figure .title { font-size: 15px; font-weight: 600; }
.overtone-figure .panel-title { font-weight: 600; }
.overtone-figure .halo { paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
.overtone-figure .grid { stroke: var(--grid); stroke-width: 1; fill: none; }
.overtone-figure .axis { stroke: var(--faint); stroke-width: 1; fill: none; }
"""


def _variables(is_dark: bool) -> str:
    pairs = [(f"--{name}", colour) for name, colour in {**_PLAIN, **ROLES}.items()]
    pairs += [(f"--shade{i}", colour) for i, colour in enumerate(SHADES)]
    return "".join(f"{name}:{_of(colour, is_dark)};" for name, colour in pairs)


def _of(colour: Colour, is_dark: bool) -> str:
    return colour.dark if is_dark else colour.light


def style_sheet(scope: str = ".overtone-figure") -> str:
    """Return the rules for every `.overtone-figure` of a page, and the variables of its colours.

    Args:
        scope: The elements that have the variables; ":root" for a page that is all ours.
    """
    roles = "".join(f".overtone-figure .{name}{{color:var(--{name})}}" for name in ROLES)
    shades = "".join(f".overtone-figure .shade{i}{{color:var(--shade{i})}}" for i in range(len(SHADES)))
    return (
        f"{scope}{{color-scheme:light dark;{_variables(False)}}}\n"
        f"@media (prefers-color-scheme:dark){{{scope}{{{_variables(True)}}}}}\n"
        f"@media print{{{scope}{{color-scheme:light;{_variables(False)}}}}}\n"
        f"{_RULES}{roles}\n{shades}\n"
    )
