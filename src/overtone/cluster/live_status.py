"""The present status of a cluster, from its provider and its head."""

from __future__ import annotations

import json
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.head import Head
from overtone.cluster.head_python import python_command
from overtone.cluster.listing_of_clusters import facts_of
from overtone.cluster.provider_modules import provider_of
from overtone.cluster.remote import Remote
from overtone.cluster.state import State
from overtone.errors import OvertoneError

_FIELDS = ("name", "path", "state", "trials", "planned", "statuses", "results")


def live_status(config: ClusterConfig) -> dict[str, Any]:
    """Return what `overtone status --json` prints: the facts of `clusters`, and what the cluster itself says.

    Its own fields: `resources` (of the provider, each with `kind`, `id`, `state`, `since`, `node_type` and
    `spot`), `head` ("reachable", or why not), `runs` that were submitted and have not ended (each with `id`,
    `script`, `arguments` and `state`), `experiments` on the head, the running ones first (both None if
    unknown), and `ended_because`, if the cluster has ended by itself.
    """
    provider = provider_of(config)
    state = State(config.name)
    facts = facts_of(state)
    resources = [vars(one) for one in provider.find(config)]
    facts.update(resources=resources, head="not up", runs=None, experiments=None, ended_because=None)
    if resources:
        try:
            remote = provider.reach(config, state)
            facts["ended_because"] = _end_reason(remote)
            facts["runs"] = _runs(remote)
            facts["experiments"] = _experiments(remote)
            facts["head"] = "reachable"
        except OvertoneError as error:
            facts["head"] = str(error)
    return facts


def _runs(remote: Remote) -> list[dict[str, Any]]:
    runs = [one for one in Head(remote).runs() if one["state"] in ("running", "waiting")]
    return [{name: one[name] for name in ("id", "script", "arguments", "state")} for one in runs]


def _experiments(remote: Remote) -> list[dict[str, Any]]:
    done = remote.run(python_command("-m overtone ls --json"))
    try:
        found = json.loads(done.output or b"[]") if done.status == 0 else []
    except ValueError:
        found = []
    listed = [{name: one.get(name) for name in _FIELDS} for one in found]
    return sorted(listed, key=lambda one: one["state"] != "running")


def _end_reason(remote: Remote) -> str | None:
    """Return why the watchdog has ended the cluster; None if it has not."""
    done = remote.run('cat "${OVERTONE_CLUSTER_FOLDER:-$HOME/.overtone/cluster}/ended.json"')
    try:
        return str(json.loads(done.output)["reason"]) if done.status == 0 else None
    except (ValueError, KeyError, TypeError):
        return None
