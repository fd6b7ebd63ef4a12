"""Writes Ray's cluster YAML: the form in which Ray's launcher and its autoscaler get a cluster."""

from __future__ import annotations

import copy
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.config_checks import below
from overtone.cluster.head_python import python_command
from overtone.cluster.provider_modules import about, loaded
from overtone.cluster.tokens import ON_NODE, environment
from overtone.version import __version__

HEAD, WORKER = "head", "worker"
"""Our names of the two node types."""

VERSIONS_ON_NODE = "~/.overtone/cluster/versions.json"
"""Ray's and Python's versions on the head; Ray copies the file to each worker."""

_HEAD_START = (
    "ray stop",
    "ulimit -n 65536; ray start --head --port=6379 --object-manager-port=8076 "
    "--autoscaling-config=~/ray_bootstrap_config.yaml --dashboard-host=127.0.0.1",
)
_WORKER_START = (
    "ray stop",
    "ulimit -n 65536; ray start --address=$RAY_HEAD_IP:6379 --object-manager-port=8076",
)
_IMPORT = '-c "import overtone.cluster"'

_OPEN_DASHBOARD = re.compile(r"--dashboard-host[= ](0\.0\.0\.0|::|'::'|\"::\")")

_SETUP_FILES = (
    "requirements*.txt", "constraints*.txt", "pyproject.toml", "setup.py", "setup.cfg", "environment.y*ml",
    "*.lock", ".python-version",
)  # fmt: skip
"""Files that setup commands read without naming them."""


def ray_yaml(
    config: ClusterConfig,
    *,
    ray_version: str,
    token_file: str,
    head_commands: Sequence[str] = (),
    worker_commands: Sequence[str] = (),
) -> dict[str, Any]:
    """Return Ray's cluster YAML as a value. Pure: the same arguments give the same value.

    The token is in none of its texts: Ray copies its file to each node.

    Args:
        config: The cluster's config, for a provider that Ray's launcher knows: aws, gcp or local.
        ray_version: Ray's version on this machine, which each node must have.
        token_file: The file of the cluster's token on this machine.
        head_commands: Commands that the head runs after `ray start`, such as the watchdog's.
        worker_commands: The same for each worker.
    """
    ray = _modern(config) if config.is_ray else _general(config)
    _add_files(ray, config, token_file)
    _add_version_checks(ray, ray_version)
    _add_start_commands(ray, config, head_commands, worker_commands)
    if cloud := about(config.provider.type).ray:
        ray = loaded(cloud.function)(ray, config, ray_version)
    if not config.is_ray:
        ray = merge(ray, config.raw)
    if config.provider.type == "aws":
        ray["provider"]["cache_stopped_nodes"] = False  # Stopped machines' volumes would go on to cost.
    return ray


def yaml_text(value: Any) -> str:
    """Return a value as YAML, with keys in their order."""
    import yaml  # type: ignore[import-untyped,unused-ignore]

    class Dumper(yaml.SafeDumper):  # type: ignore[misc,unused-ignore]
        """Writes commands of several lines as they are, and each value in full instead of as an alias."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    def write_text(dumper: Any, text: str) -> Any:
        style = "|" if "\n" in text else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, write_text)
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, width=10_000, allow_unicode=True)
    return text


def merge(base: Any, over: Any) -> Any:
    """Return `base` with the values of `over`: mappings are merged, others replaced. Modifies neither."""
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return copy.deepcopy(over)
    merged = copy.deepcopy(dict(base))
    for key, value in over.items():
        merged[key] = merge(merged[key], value) if key in merged else copy.deepcopy(value)
    return merged


def differences(before: Any, after: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield each key in which two values differ, with its value before and after; None if it is missing."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from differences(before.get(key), after.get(key), below(place, str(key)))
    elif before != after:
        yield place, before, after


def _general(config: ClusterConfig) -> dict[str, Any]:
    """Return the keys that do not depend on the provider, and those of local hosts."""
    settings, workers = config.provider.settings, config.workers
    ray: dict[str, Any] = {
        "cluster_name": config.name,
        "max_workers": workers.max,
        "upscaling_speed": 100.0,  # all machines at once: trials wait for them
        "idle_timeout_minutes": workers.idle_s / 60,
        "provider": {"type": config.provider.type},
        "auth": {key: settings[name] for key, name in _AUTH if name in settings},
    }
    if config.provider.type == "local":
        others = [host for host in settings["hosts"] if host != config.head]
        ray["provider"].update(head_ip=config.head, worker_ips=others)
        ray["min_workers"] = workers.min
    else:
        ray["provider"].update(settings)
        ray["available_node_types"] = {
            HEAD: {"node_config": {}, "resources": {}, "min_workers": 0, "max_workers": 0},
            WORKER: {
                "node_config": {},
                "resources": {},
                "min_workers": workers.min,
                "max_workers": workers.max,
            },
        }
        ray["head_node_type"] = HEAD
    folder = f"~/overtone_work/{config.name}"
    ray["setup_commands"] = [f"mkdir -p {folder} && cd {folder} || exit 1\n{one}" for one in config.setup]
    return ray


_AUTH = (("ssh_user", "user"), ("ssh_private_key", "ssh_key"))


def _modern(config: ClusterConfig) -> dict[str, Any]:
    """Return a cluster YAML of Ray's with node types, which older files call `head_node`, `worker_nodes`."""
    ray: dict[str, Any] = copy.deepcopy(dict(config.raw))
    ray["cluster_name"] = config.name
    for key in ("initial_workers", "autoscaling_mode", "target_utilization_fraction"):
        ray.pop(key, None)  # Ray 2 has them no more, and refuses unknown keys.
    if not ray.get("docker", True):
        ray.pop("docker")
    head, workers = ray.pop("head_node", None) or {}, ray.pop("worker_nodes", None) or {}
    if config.provider.type == "local" or ray.get("available_node_types"):
        return ray
    counts = {"min_workers": ray.pop("min_workers", 0) or 0, "max_workers": config.workers.max}
    types = {HEAD: (head, {"min_workers": 0, "max_workers": 0}), WORKER: (workers or head, counts)}
    ray["max_workers"] = config.workers.max
    ray["available_node_types"] = {}
    for name, (node, limits) in types.items():
        node = copy.deepcopy(node)
        resources = node.pop("resources", None) or {}
        ray["available_node_types"][name] = {"node_config": node, "resources": resources, **limits}
    ray["head_node_type"] = HEAD
    return ray


def _add_files(ray: dict[str, Any], config: ClusterConfig, token_file: str) -> None:
    """Add what each node needs before its setup: the token, and the files that the setup reads."""
    mounts = dict(ray.get("file_mounts") or {})
    mounts[ON_NODE] = token_file
    for name in setup_files(config):
        target = f"~/overtone_work/{config.name}" if name == "." else f"~/overtone_work/{config.name}/{name}"
        mounts[target] = str(config.files if name == "." else (config.files or Path()) / name)
    ray["file_mounts"] = mounts
    synced = list(ray.get("cluster_synced_files") or [])
    ray["cluster_synced_files"] = [*synced, VERSIONS_ON_NODE]
    ray.setdefault("rsync_exclude", ["**/.git", "**/__pycache__", "**/.venv"])


def setup_files(config: ClusterConfig) -> list[str]:
    """Return the files and folders below `files` that setup commands read, as relative paths.

    Only those are on each node before its setup: Ray runs the setup of all nodes again if a mounted file
    has changed, and the script changes often.
    """
    if config.files is None or not config.setup:
        return []
    names = {path.name for pattern in _SETUP_FILES for path in config.files.glob(pattern) if path.is_file()}
    for command in config.setup:
        try:
            words = shlex.split(command, comments=True)
        except ValueError:  # such as a quote that a shell continues in the next line
            words = command.split()
        for word in words:
            name = Path(word)
            if not word or name.is_absolute() or ".." in name.parts or word.startswith(("-", "~", "$")):
                continue
            if (config.files / name).exists():
                names.add(name.as_posix())
    return ["."] if "." in names else sorted(names)


def _add_version_checks(ray: dict[str, Any], ray_version: str) -> None:
    """Let each node end its setup with Overtone, if it is missing, and a check of the versions."""
    install = f'"$p" -m pip install -q "overtone=={__version__}"'  # `p` is the Python that was looked for.
    for kind in (HEAD, WORKER):
        arguments = f"-m overtone.cluster.node_versions {kind} --ray {shlex.quote(ray_version)}"
        key = f"{kind}_setup_commands"
        own = [f"{python_command(_IMPORT)} 2> /dev/null || {install}", python_command(arguments)]
        ray[key] = [*(ray.get(key) or []), *own]


def _add_start_commands(
    ray: dict[str, Any], config: ClusterConfig, head: Sequence[str], worker: Sequence[str]
) -> None:
    """Let every start command run with the token's variables and the mark of the cluster's processes."""
    variables = {"OVERTONE_CLUSTER": config.name, **environment()}
    exports = "export " + " ".join(f"{name}={value}" for name, value in variables.items())
    for kind, default, more in ((HEAD, _HEAD_START, head), (WORKER, _WORKER_START, worker)):
        key = f"{kind}_start_ray_commands"
        commands = [_start_command(one) for one in ray.get(key) or default]
        ray[key] = [f"{exports}; {one}" for one in (*commands, *more)]


def _start_command(command: str) -> str:
    """Return a start command of an article as Ray 2 takes it, with the dashboard for this node alone."""
    return _OPEN_DASHBOARD.sub("--dashboard-host=127.0.0.1", command.replace("--redis-port", "--port"))
