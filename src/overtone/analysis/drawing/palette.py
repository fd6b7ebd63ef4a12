"""The colours of figures: one colour has one meaning, on light and on dark pages.

The hues are those of Okabe and Ito (2008), which people with any common kind of colour blindness tell
apart; each is at least 3:1 in contrast to the page. Shades follow cividis (Nunez, Anderton and Renslow,
2018, doi:10.1371/journal.pone.0199239), which looks nearly the same to all of them.
"""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """One meaning's colour on a light page, and on a dark page."""

    light: str
    dark: str


ROLES: dict[str, Colour] = {
    "best": Colour("#00845f", "#1fc795"),
    "trial": Colour("#0072b2", "#4aa8e0"),
    "completed": Colour("#0072b2", "#4aa8e0"),
    "running": Colour("#a87b00", "#e3b341"),
    "paused": Colour("#9b4f96", "#cf8fca"),
    "pending": Colour("#3a8c94", "#74c0c8"),
    "stopped": Colour("#7b818a", "#9aa1ab"),
    "failed": Colour("#d55e00", "#ff8a3d"),
    "disallowed": Colour("#c2408f", "#f08fce"),
    "cutoff": Colour("#3d434b", "#d5dae1"),
    "page": Colour("#ffffff", "#14171c"),
    "series0": Colour("#4b3fa7", "#a39bf0"),
    "series1": Colour("#b0446a", "#ef93b1"),
    "series2": Colour("#767a20", "#c5c95a"),
    "series3": Colour("#2a87a8", "#7cc9e6"),
    "series4": Colour("#8a5a2b", "#d0a676"),
    "series5": Colour("#56657a", "#aab7c8"),
    "series6": Colour("#6d2a5e", "#c48cc9"),
    "series7": Colour("#2f6b52", "#8fcab2"),
}
"""Each meaning and its colour.

"trial" is any trial whose end does not matter in the plot; "cutoff" is a line that a rule draws; "page" is
the background, around marks on a heat map; series are whole experiments or objectives, in their order.
"""

N_SERIES = sum(role.startswith("series") for role in ROLES)

SHADES = (
    Colour("#00224e", "#5b6f9c"), Colour("#12316a", "#667699"), Colour("#2a406c", "#717d96"),
    Colour("#3b4c6c", "#7b8493"), Colour("#4a586c", "#868b8f"), Colour("#58636f", "#91938b"),
    Colour("#666e71", "#9d9b87"), Colour("#737972", "#a9a382"), Colour("#828470", "#b5ab7d"),
    Colour("#91906b", "#c2b476"), Colour("#a19b62", "#cfbd6e"), Colour("#b1a654", "#dcc764"),
    Colour("#bfae3d", "#ead254"), Colour("#c9b41c", "#fbe045"),
)  # fmt: skip
"""The sequential scale, from shade 0 to shade 1; dark blue to yellow, without the end that the page hides."""

PAGE = ROLES["page"]
INK = Colour("#1f2328", "#e6e9ee")
FAINT_INK = Colour("#59616b", "#a3abb6")
GRID = Colour("#e3e6ea", "#2c323a")


def series(index: int) -> str:
    """Return the role of an experiment or objective by its index; roles repeat after `N_SERIES`."""
    return f"series{index % N_SERIES}"
