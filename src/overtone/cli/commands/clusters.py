"""`overtone clusters`: the clusters that this machine knows, and with --all those in the cloud."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from overtone.cli.arguments import Arguments, add_json
from overtone.cli.exit_codes import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone clusters`."""
    about = "also those that are down, and those that the clouds of known clusters have by our tag"
    parser.add_argument("--all", action="store_true", help=about)
    add_json(parser)


def run(args: Arguments) -> int:
    """List the clusters, the newest first."""
    from overtone.cli.json_output import write_json
    from overtone.cluster.listing_of_clusters import facts_of
    from overtone.cluster.state import State

    states = State.known()
    found = [facts_of(state) for state in states]
    if args.all:
        found += _in_clouds(states)
    else:
        found = [one for one in found if one["phase"] not in ("down", "unknown")]
    found.sort(key=lambda one: one["began"] or 0.0, reverse=True)
    if args.json:
        write_json(found)
    elif found:
        _show(found)
    else:
        is_all = "no cluster is known" if args.all else "no cluster is up; --all lists those that are down"
        sys.stderr.write(f"overtone: {is_all}\n")
    return OK


def _in_clouds(states: list[Any]) -> list[dict[str, Any]]:
    """Return the clusters in clouds that this machine does not know."""
    from overtone.cluster.cloud_clusters import cloud_clusters

    found, errors = cloud_clusters(states)
    for error in errors:
        sys.stderr.write(f"overtone: {error}\n")
    known = {state.name for state in states}
    nothing = dict.fromkeys(("began", "ended", "age_s", "cost", "config", "holder"))
    return [
        {"name": name, "provider": place, "phase": "in the cloud", **nothing}
        for place, name in found
        if name not in known
    ]


def _show(found: list[dict[str, Any]]) -> None:
    from overtone.cli.tables import TableColumn, show_table
    from overtone.cluster.prices import dollars_text
    from overtone.quantity_text import age_text

    columns = [
        TableColumn("cluster"), TableColumn("provider"), TableColumn("phase"), TableColumn("age", right=True),
        TableColumn("cost", right=True), TableColumn("config", keep=1, least=10),
    ]  # fmt: skip
    rows = []
    for one in found:
        holder = one["holder"]
        phase = f"{one['phase']}: {holder['command']}, process {holder['pid']}" if holder else one["phase"]
        age = "" if one["age_s"] is None else age_text(one["age_s"])
        cost = "" if one["cost"] is None else dollars_text(one["cost"])
        rows.append([one["name"], one["provider"] or "", phase, age, cost, one["config"] or ""])
    show_table(columns, rows)
