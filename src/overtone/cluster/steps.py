"""The steps of a plan, each with its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Action = Literal["start", "keep", "run", "stop"]


@dataclass(frozen=True)
class Step:
    """One step of a plan.

    Attributes:
        action: "start" makes machines, "keep" finds something there, "run" does something, and "stop" takes
            something down.
        what: What the step is about: a noun such as "worker" if it is counted, else a phrase.
        detail: What kind of it, such as "g5.xlarge, spot".
        least: Fewest of it at once; None if it is not counted.
        most: Most of it at once.
        price: US dollars an hour for each; None if the price is unknown or there is none.
        is_bound: Whether each costs this much at most.
    """

    action: Action
    what: str
    detail: str = ""
    least: int | None = None
    most: int | None = None
    price: float | None = None
    is_bound: bool = False
