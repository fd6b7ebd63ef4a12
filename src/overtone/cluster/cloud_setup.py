"""Setup of a bare cloud machine before the user's own setup, and the defaults of Ray's YAML there."""

from __future__ import annotations

from typing import Any

from overtone.cluster.node_versions import node_versions
from overtone.version import __version__

ENVIRONMENT = "~/.overtone/environment"
"""The Python environment on the machines: the login PATH begins with it."""

_HEAD_START = (
    "ulimit -n 65536; ray start --head --port=6379 --object-manager-port=8076"
    " --autoscaling-config=~/ray_bootstrap_config.yaml --dashboard-host=127.0.0.1"
)
_WORKER_START = "ulimit -n 65536; ray start --address=$RAY_HEAD_IP:6379 --object-manager-port=8076"

DEFAULTS: dict[str, Any] = {
    "upscaling_speed": 1.0,
    "idle_timeout_minutes": 5,
    "docker": {},
    "file_mounts": {},
    "cluster_synced_files": [],
    "file_mounts_sync_continuously": False,
    "rsync_exclude": [],
    "rsync_filter": [],
    "initialization_commands": [],
    "setup_commands": [],
    "head_setup_commands": [],
    "worker_setup_commands": [],
    "head_start_ray_commands": ["ray stop", _HEAD_START],
    "worker_start_ray_commands": ["ray stop", _WORKER_START],
}
"""Ray's own defaults for a cloud, without their settings that suit no cluster of ours."""


def setup_commands(extra: str, ray_version: str | None = None) -> list[str]:
    """Return the commands that give a machine Python, Ray in this machine's version, and Overtone.

    A machine whose image has `ray` on the login PATH is left as it is.

    Args:
        extra: The extra of Overtone that the cloud's head needs, such as "aws".
        ray_version: Such as "2.60.0"; None for that of this Python.
    """
    version = ray_version or node_versions()["ray"]  # `plan` works without Ray
    ray = f'"ray[default]=={version}"' if version else '"ray[default]"'
    make = f"python3 -m venv {ENVIRONMENT}"  # All images have the same Ubuntu, and so the same Python.
    install = f'{ENVIRONMENT}/bin/pip install -q {ray} "overtone[ray,{extra}]=={__version__}"'
    line = f"""'export PATH="$HOME{ENVIRONMENT[1:]}/bin:$PATH"'"""
    path = f"grep -qs overtone/environment ~/.profile || echo {line} | tee -a ~/.profile >> ~/.bashrc"
    return [
        # A machine's first boot holds the lock of apt.
        "command -v ray || (cloud-init status --wait > /dev/null; sudo apt-get -q -o DPkg::Lock::Timeout=300"
        " update && sudo apt-get -qy -o DPkg::Lock::Timeout=300 install python3-venv rsync)",
        f"command -v ray || ({make} && {install} && ({path}))",
    ]


def add_missing(ray: dict[str, Any], setup: list[str], *, has_own_setup: bool) -> None:
    """Add the defaults that Ray's YAML lacks, in place, and the setup of a bare machine before the user's.

    Args:
        ray: The YAML.
        setup: The commands of `setup_commands`.
        has_own_setup: Whether the YAML is the user's own and installs Ray itself: nothing is put before.
    """
    for key, value in DEFAULTS.items():
        ray.setdefault(key, value.copy() if isinstance(value, (dict, list)) else value)
    if "max_workers" not in ray:
        types = ray.get("available_node_types", {}).values()
        ray["max_workers"] = sum(int(one.get("max_workers", 0)) for one in types)
    own = ray["setup_commands"]
    if not has_own_setup and own[: len(setup)] != setup:
        ray["setup_commands"] = [*setup, *own]
