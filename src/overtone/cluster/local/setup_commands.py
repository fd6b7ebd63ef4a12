"""The setup of a host: its commands, and the files that they need."""

from __future__ import annotations

from pathlib import Path

from overtone.cluster import ray_form
from overtone.cluster.config import ClusterConfig


def setup_commands(config: ClusterConfig, is_head: bool) -> list[str]:
    """Return the commands that a host runs before Ray starts, in their order."""
    if not config.is_ray:
        return list(config.setup)
    kinds = ("initialization", "setup", "head_setup" if is_head else "worker_setup")
    return [str(one) for kind in kinds for one in config.raw.get(f"{kind}_commands") or ()]


def setup_files(config: ClusterConfig) -> list[tuple[Path, str]]:
    """Return the files and folders that each host gets before its setup, with their places there."""
    if config.is_ray:
        mounts = config.raw.get("file_mounts") or {}
        return [(Path(source).expanduser(), str(target)) for target, source in mounts.items()]
    work = f"~/overtone_work/{config.name}"
    folder = config.files or Path()
    names = ray_form.setup_files(config)
    return [(folder / name, work if name == "." else f"{work}/{name}") for name in names]
