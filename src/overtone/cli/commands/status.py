"""`overtone status c.yaml`: a cluster's nodes, age, cost so far and experiments."""

from __future__ import annotations

import argparse
from typing import Any

from overtone.cli.arguments import Arguments, add_json
from overtone.cli.exit_codes import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone status`."""
    about = "the cluster's config, or the name of a cluster that this machine knows"
    parser.add_argument("config", metavar="CONFIG|NAME", help=about)
    add_json(parser)


def run(args: Arguments) -> int:
    """Ask the cluster, and print what it says."""
    from overtone.cli.json_output import write_json
    from overtone.cluster.listing_of_clusters import config_of
    from overtone.cluster.live_status import live_status

    facts = live_status(config_of(args.config))
    if args.json:
        write_json(facts)
    else:
        _show(facts)
    return OK


def _show(facts: dict[str, Any]) -> None:
    from overtone.cli.tables import TableColumn, say, show_facts, show_table
    from overtone.cluster.costs import cost_text
    from overtone.cluster.state import State
    from overtone.quantity_text import age_text

    show_facts(
        [
            ("cluster", facts["name"]),
            ("provider", facts["provider"] or ""),
            ("phase", facts["phase"]),
            ("up for", "" if facts["age_s"] is None or facts["ended"] else age_text(facts["age_s"])),
            ("cost so far", cost_text(State(facts["name"]).info())),
            ("head", facts["head"]),
            ("ended because", facts["ended_because"] or ""),
        ]
    )
    if facts["resources"]:
        say()
        columns = [
            TableColumn("kind"),
            TableColumn("id"),
            TableColumn("type"),
            TableColumn("state", least=20),
        ]
        rows = [[one["kind"], one["id"], one["node_type"] or "", one["state"]] for one in facts["resources"]]
        show_table(columns, rows)
    if facts["runs"]:
        say()
        columns = [TableColumn("run"), TableColumn("state"), TableColumn("script", least=20)]
        show_table(columns, [[one["id"], one["state"], _script(one)] for one in facts["runs"]])
    running = [one for one in facts["experiments"] or () if one["state"] == "running"]
    if facts["experiments"] is not None:
        say()
        say(f"experiments on the head: {len(facts['experiments'])}, of which {len(running)} running")
    for one in running:
        say(f"  {one['name']}: {one['trials']} trials, {one['results']} results")


def _script(run: dict[str, Any]) -> str:
    from shlex import join

    return join([run["script"], *run["arguments"]])
