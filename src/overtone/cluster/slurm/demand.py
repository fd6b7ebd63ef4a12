"""Resources of each node of a job, such as `cpus=4,memory=8G,gpus=1`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from overtone.cluster.config import ClusterConfig

_RULES = {
    "cpus": (r"[1-9][0-9]{0,4}", "cpus=4"),
    "memory": (r"[1-9][0-9]{0,8}[MGT]", "memory=8G, in M, G or T"),
    "gpus": (r"([A-Za-z][\w.-]*:)?[1-9][0-9]{0,2}", "gpus=1 or gpus=a100:2"),
}
EXAMPLE = "cpus=4,memory=8G,gpus=1"


@dataclass(frozen=True)
class Demand:
    """Resources of one node; None for the default of the partition.

    Attributes:
        cpus: Number of CPUs.
        memory: Memory as Slurm writes it, such as "8G".
        gpus: GPUs as in `--gres=gpu:...`, such as "1" or "a100:2".
    """

    cpus: str | None = None
    memory: str | None = None
    gpus: str | None = None


def demand_of(config: ClusterConfig) -> Demand:
    """Return the resources of each node of a config's job.

    Raises:
        ConfigError: `head` or `workers.type` cannot be read, or they differ: the nodes of a job are alike.
    """
    head = _parsed(config, "head", config.head)
    workers = _parsed(config, "workers.type", config.workers.type)
    if head is not None and workers is not None and head != workers and config.workers.max > 0:
        rule = f"must equal head={config.head!r} on Slurm, or be left out: the nodes of a job are alike"
        raise config.error("workers.type", rule, config.workers.type)
    return head or workers or Demand()


def _parsed(config: ClusterConfig, key: str, text: str | None) -> Demand | None:
    if text is None:
        return None
    values: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        pattern, example = _RULES.get(name, ("", ""))
        if not equals or not pattern or name in values:
            raise config.error(key, f"must name cpus, memory and gpus once, such as {EXAMPLE}", text)
        if not re.fullmatch(pattern, value):
            raise config.error(key, f"{name}={value} cannot be read: write {example}", text)
        values[name] = value
    return Demand(**values)
