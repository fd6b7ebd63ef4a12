"""The legend of a scene: one entry for each label, with a sample of its mark."""

from __future__ import annotations

from dataclasses import dataclass

from overtone.analysis.drawing.scene import Band, Bars, Line, Points, Scene


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One label.

    Attributes:
        label: The text.
        role: The meaning, which decides the colour.
        kind: "line", "dashes", "area", "band", or the symbol of points.
    """

    label: str
    role: str
    kind: str

    def sample(self, x: float, y: float) -> str:
        """Return SVG elements of 18 by 10 pixels, in `currentColor`."""
        line = f'd="M{x:g} {y:g}h18" stroke="currentColor" fill="none"'
        middle = x + 9
        match self.kind:
            case "line":
                return f'<path {line} stroke-width="2.5"/>'
            case "dashes":
                return f'<path {line} stroke-width="2" stroke-dasharray="5 4"/>'
            case "area" | "band":
                box = f'x="{x:g}" y="{y - 5:g}" width="18" height="10" fill="currentColor"'
                return f'<rect {box} opacity=".3"/>' if self.kind == "band" else f"<rect {box}/>"
            case "cross":
                shape = f"M{middle - 4:g} {y - 4:g}l8 8m-8 0l8-8"
            case "bar":
                shape = f"M{middle:g} {y - 5:g}v10"
            case "diamond":
                shape = f"M{middle:g} {y - 4:g}l4 4l-4 4l-4-4Z"
            case _:
                return f'<circle cx="{middle:g}" cy="{y:g}" r="4" fill="currentColor"/>'
        fill = "currentColor" if self.kind == "diamond" else "none"
        return f'<path d="{shape}" stroke="currentColor" stroke-width="2" fill="{fill}"/>'


def legend_entries(scene: Scene) -> list[LegendEntry]:
    """Return the labelled marks of all panels, each label once, in the order of drawing."""
    found: dict[str, LegendEntry] = {}
    for panel in scene.panels:
        for mark in panel.marks:
            if isinstance(mark, (Points, Line, Band, Bars)) and mark.label and mark.label not in found:
                kind: str = mark.symbol if isinstance(mark, Points) else "area"
                kind = "band" if isinstance(mark, Band) else kind
                if isinstance(mark, Line):
                    kind = "dashes" if mark.is_dashed else "line"
                found[mark.label] = LegendEntry(mark.label, mark.role, kind)
    return list(found.values())
