"""Plans as people read them, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from overtone.cluster.durations import duration_text
from overtone.cluster.plan import Plan, count_kinds
from overtone.cluster.prices import dollars_text
from overtone.cluster.provider import Resource
from overtone.cluster.provider_modules import about
from overtone.cluster.steps import Step

_PLACES = ("region", "zone", "context", "partition")


def plan_text(plan: Plan) -> str:
    """Return the plan as lines."""
    settings = plan.config.provider.settings
    place = next((f", {settings[key]}" for key in _PLACES if key in settings), "")
    facts = [
        ("price", _price_text(plan)),
        ("limits", _limits_text(plan)),
        ("exists", _existing_text(plan.existing)),
        ("left", f"after `overtone down`: {plan.left}"),
    ]
    lines = [f"cluster {plan.config.name} on {plan.config.provider.type}{place} ({plan.config.source})"]
    lines += [f"  {step.action:<7}{_step_text(step)}" for step in plan.steps]
    lines += [f"{name:<9}{text}" for name, text in facts]
    return "\n".join(lines) + "\n"


def plan_document(plan: Plan) -> dict[str, Any]:
    """Return the plan as a value for JSON."""
    config = plan.config
    return {
        "name": config.name,
        "provider": config.provider.type,
        "source": str(config.source),
        "command": plan.command,
        "steps": [asdict(step) for step in plan.steps],
        "price": {"least": plan.least, "most": plan.most, "most_in_all": plan.most_in_all},
        "price_sources": list(plan.sources),
        "unknown_prices": list(plan.unknown),
        "limits": asdict(config.limits),
        "existing": None if plan.existing is None else [asdict(one) for one in plan.existing],
        "left": plan.left,
    }


def _step_text(step: Step) -> str:
    text = step.what
    if step.least is not None and step.most is not None:
        count = f"{step.least}" if step.least == step.most else f"{step.least} to {step.most}"
        text = f"{count} {step.what}{'s' if step.most != 1 else ''}"
    text += f": {step.detail}" if step.detail else ""
    if step.price:
        bound, each = "at most " if step.is_bound else "", " each" if step.most != 1 else ""
        text += f", {bound}{dollars_text(step.price)} an hour{each}"
    return text


def _price_text(plan: Plan) -> str:
    if plan.unknown:
        return f"unknown for {', '.join(plan.unknown)}: give --price, in US dollars an hour for a node"
    if not plan.most or plan.least is None:
        return (
            f"none for {plan.config.provider.type}: provider.price is that of a node, in US dollars an hour"
        )
    least, most = dollars_text(plan.least), dollars_text(plan.most)
    span = least if least == most else f"{least} to {most}"
    disks = "; without disks and traffic" if about(plan.config.provider.type).has_prices else ""
    return f"{span} an hour ({', '.join(plan.sources)}{disks})"


def _limits_text(plan: Plan) -> str:
    limits = plan.config.limits
    texts = [f"{duration_text(limits.cluster_idle_s)} without work"]
    if limits.hours is not None:
        texts.append(f"{limits.hours:g} hour{'s' if limits.hours != 1 else ''}")
    if limits.price is not None:
        texts.append(dollars_text(limits.price))
    when = " or ".join(texts)
    if about(plan.config.provider.type).costs_on:
        return f"the head ends what runs after {when}; the machines stay, and cost until `overtone down`"
    in_all = f": at most {dollars_text(plan.most_in_all)}" if plan.most_in_all else ""
    return f"the head takes the cluster down after {when}{in_all}"


def _existing_text(existing: Sequence[Resource] | None) -> str:
    if existing is None:
        return "unknown"
    counts = count_kinds(existing)
    texts = [f"{n} {kind}{'s' if n != 1 else ''}" for kind, n in counts.items()]
    if unknown := [one for one in existing if one.is_unknown]:
        where = f" on {len(unknown)} hosts" if len(unknown) > 1 else ""
        texts.append(f"unknown{where}: {unknown[0].state}")
    return ", ".join(texts) or "nothing"
