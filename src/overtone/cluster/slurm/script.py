"""The batch script of a cluster's job, and the settings of its program: config in, text out."""

from __future__ import annotations

import json
import math
import re
from shlex import quote
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.resource import TAG
from overtone.cluster.slurm.demand import demand_of

WARNING_S = 120
"""The job is told this long before its time limit, so that trials can save."""

_OPTION = re.compile(r"[a-z][a-z-]*")
_OWN = {
    "job-name", "comment", "output", "error", "nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "mem",
    "requeue", "no-requeue", "open-mode", "signal", "array", "wrap", "export", "chdir", "dependency",
    "no-kill", "input", "parsable", "wait", "overcommit", "uid", "gid",
}  # fmt: skip
"""The options of sbatch that the launcher sets, or that would break a job of this kind."""
_ELSEWHERE = {"partition", "account", "qos", "constraint"}


def job_name(name: str) -> str:
    """Return the name of a cluster's job."""
    return f"overtone-{name}"


def comment(name: str) -> str:
    """Return the tag of a cluster's job."""
    return f"{TAG}={name}"


def folder(name: str) -> str:
    """Return the folder of a cluster on the shared disk."""
    return f"~/.overtone/slurm/{name}"


def script(config: ClusterConfig) -> str:
    """Return the batch script of a cluster's job.

    The script contains no secret. It runs `setup` on the first node, and then becomes the job's program; all
    nodes get the variables that `setup` has set.

    Raises:
        ConfigError: `head`, `workers.type` or `raw` cannot be used on Slurm.
    """
    head = "".join(f"#SBATCH {one}\n" for one in options(config))
    setup = "".join(f"overtone_setup={quote(one)}\n{one}\novertone_check $?\n" for one in config.setup)
    return _SCRIPT.format(head=head, setup=setup, name=quote(config.name))


def options(config: ClusterConfig) -> list[str]:
    """Return the options of sbatch.

    Raises:
        ConfigError: See `script`.
    """
    settings, limits = config.provider.settings, config.limits
    demand = demand_of(config)
    least, most = 1 + config.workers.min, 1 + config.workers.max
    made: dict[str, str | None] = {
        "job-name": job_name(config.name),
        "comment": comment(config.name),
        **{name: settings[name] for name in sorted(_ELSEWHERE) if name in settings},
        "nodes": str(most) if least == most else f"{least}-{most}",
        "ntasks-per-node": "1",
        "cpus-per-task": demand.cpus,
        "mem": demand.memory,
        "gres": demand.gpus and f"gpu:{demand.gpus}",
        "time": None if limits.hours is None else str(max(1, math.ceil(limits.hours * 60))),
        "signal": f"B:USR1@{WARNING_S}",
        "dependency": "singleton",
        "open-mode": "append",
        "output": f"{folder(config.name).replace('~/', '', 1)}/log",
    }
    made.update(_raw(config))
    words = [f"--{name}={value}" for name, value in made.items() if value is not None]
    # Without --no-kill: a job that stays when its first node is lost has no program any more.
    return [*words, "--requeue"]


def _raw(config: ClusterConfig) -> dict[str, str | None]:
    """Return the options of sbatch that the config names itself.

    Raises:
        ConfigError: One is not an option of sbatch, or one that the launcher sets.
    """
    found: dict[str, str | None] = {}
    for name, value in config.raw.items():
        key = f"raw.{name}"
        if not _OPTION.fullmatch(name):
            raise config.error(key, "must be a long option of sbatch without its dashes, such as exclude")
        if name in _ELSEWHERE:
            raise config.error(key, f"must be written as provider.{name}")
        if name in _OWN:
            raise config.error(key, "is set by the launcher: leave it out")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)) or "\n" in str(value):
            raise config.error(key, 'must be a text of one line, such as "node7"', value)
        found[name] = str(value)
    return found


def job_settings(config: ClusterConfig, ends_with_run: bool) -> bytes:
    """Return the settings of the job's program as JSON.

    Args:
        ends_with_run: Whether the job ends as soon as the first command that it was given has ended.
    """
    limits, price = config.limits, config.provider.settings.get("price")
    found: dict[str, Any] = {
        "name": config.name,
        "idle_s": limits.cluster_idle_s,
        "most_s": None if limits.hours is None else limits.hours * 3600,
        "most_node_s": limits.price / price * 3600 if limits.price and price else None,
        "ends_with_run": ends_with_run,
    }
    return json.dumps(found).encode() + b"\n"


_SCRIPT = """\
#!/bin/bash -l
{head}
# A cluster of Overtone: `overtone down` ends it.
export OVERTONE_CLUSTER={name}
export OVERTONE_CLUSTER_FOLDER="$HOME/.overtone/slurm/$OVERTONE_CLUSTER"
overtone_check() {{
    if [ "$1" != 0 ]; then
        echo "overtone: setup failed with status $1 on $(hostname): $overtone_setup" >&2
        exit 1
    fi
}}
cd "$HOME/overtone_work/$OVERTONE_CLUSTER" 2>/dev/null || cd "$HOME" || exit 1
{setup}
ray=$(command -v ray)
if [ -z "$ray" ]; then
    echo "overtone: no ray on the PATH of $(hostname): pip install 'overtone[ray]' there, or name the" \\
        "command that makes it available under setup, such as: source ~/venv/bin/activate" >&2
    exit 127
fi
python=$(dirname "$ray")/python
[ -x "$python" ] || python=python3
cd "$HOME" || exit 1
exec "$python" -m overtone.cluster.slurm.job "$OVERTONE_CLUSTER_FOLDER"
"""
