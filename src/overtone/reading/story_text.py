"""A trial's history as sentences: each decision, and in one sentence where the trial stands and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.quantity_text import number
from overtone.reading.rung_places import RungPlace
from overtone.reading.trial_story import Story, StoryStep

_NEIGHBOURS = 3  # competitors that are named on each side
_DECIDED = {"stop": "stopped", "pause": "paused", "restart": "restarted", "save": "told to save"}


def sentence(step: StoryStep, metric: str | None) -> str:
    """Return the decision of a step as text: "stopped by asha at rung 4: loss=3.7 is 3rd of 4"."""
    why = step.why
    at = f" at rung {number(why.rung)}" if why is not None and why.rung is not None else ""
    if why is not None and why.bracket is not None:
        at += f" in bracket {why.bracket}"
    value = "" if step.value is None or metric is None else f"{metric}={number(step.value)}"
    if step.kind == "passed":
        return (
            f"passed{_rung(at)}: {value or 'no number'}, {ordinal(step.rank or 1)} of {step.of} there by then"
        )
    text = _DECIDED.get(step.decision or "", step.decision or "")
    if step.decision == "continue":
        text = "went on with another config"
    if step.source is not None:
        text += f" from the state of {step.source}"
    if why is None:
        return text
    if why.rule == "stop":
        return f"{text} by its stop condition{': ' + why.note if why.note else ''}"
    text += f" by {why.rule.replace('_', ' ')}{at}"
    parts = []
    if step.rank is not None:
        place = f"{ordinal(step.rank)}{'' if step.of is None else f' of {step.of}'}"
        parts.append(f"{value} is {place}" if value else f"it is {place}")
    elif value and (why.cutoff is not None or why.rung is not None):
        parts.append(value)
    if step.cutoff is not None:
        parts.append(f"the cutoff was {number(step.cutoff)}")
    if why.note:
        parts.append(why.note)
    return f"{text}: {'; '.join(parts)}" if parts else text


def ordinal(rank: int) -> str:
    """Return text such as `1st`, `2nd`, `3rd`, `4th`, `11th`."""
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def _rung(at: str) -> str:
    return at.replace(" at", "", 1)


def verdict(story: Story, trial_id: str, status: str) -> str:
    """Return the trial's state and the reason for it, in one sentence."""
    last = next(
        (one for one in reversed(story.steps) if one.kind == "ruled" and one.decision != "save"), None
    )
    ended = next((one for one in reversed(story.steps) if one.kind == "ended"), None)
    if ended is not None and (status == "ERROR" or last is None or last.decision != "stop"):
        what = ended.text
    elif story.held_by:
        what = f"is held until it is resumed: {story.held_by}"
    elif last is not None:
        what = f"was {last.text}" if last.decision in _DECIDED else last.text
    else:
        what = {
            "RUNNING": "is running",
            "PENDING": "waits to be started",
            "PAUSED": "is paused",
            "INTERRUPTED": "was running when its driver died: it goes on when the experiment is resumed",
        }.get(status, status.lower())
    return f"{trial_id} {what}."


def unruled(story: Story, status: str) -> str:
    """Return a note on a trial that nobody and nothing stopped, paused or changed, or else an empty text."""
    ended = next((one.why for one in story.steps if one.kind == "ended"), None)
    if story.is_ruled or story.held_by or (ended is not None and ended.rule not in ("halted", "returned")):
        return ""
    so_far = "" if status in ("TERMINATED", "ERROR") else " so far"
    return f"No scheduler or stop condition stopped, paused or changed this trial{so_far}."


def clock_of(header: Mapping[str, Any]) -> str:
    """Return the metric that the scheduler takes as time."""
    parts = header.get("parts")
    scheduler = parts.get("scheduler") if isinstance(parts, dict) else None
    arguments = scheduler.get("arguments") if isinstance(scheduler, dict) else None
    found = arguments.get("time_attr") if isinstance(arguments, dict) else None
    return found if isinstance(found, str) else "training_iteration"


def competition(step: StoryStep, trial_id: str) -> list[str]:
    """Return lines with the trial's neighbours at the rung: a few better and a few worse trials."""
    why = step.why
    if step.kind != "ruled":
        return []
    if not step.competitors:
        return [f"against {', '.join(why.against)}"] if why is not None and why.against else []
    at = step.competitors.at(trial_id)
    if at is None:
        return []
    n_worse = len(step.competitors) - at - 1
    lines = []
    if at:
        nearest = step.competitors[max(1, at - _NEIGHBOURS + 1) : at]
        lines.append(f"better: {_named([step.competitors[0], *nearest], at)}")
    if n_worse:
        lines.append(f"not better: {_named(step.competitors[at + 1 : at + 1 + _NEIGHBOURS], n_worse)}")
    return lines


def _named(places: Sequence[RungPlace], total: int) -> str:
    words = [f"{one.trial_id} {'no number' if one.value is None else number(one.value)}" for one in places]
    more = total - len(places)
    return ", ".join(words) + (f" and {more} more" if more else "")
