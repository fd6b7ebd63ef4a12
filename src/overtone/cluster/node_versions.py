"""Checks that all nodes of a cluster have the same Ray and Python; runs on each node, before `ray start`.

    python -m overtone.cluster.node_versions head --ray 2.60.0
    python -m overtone.cluster.node_versions worker --ray 2.60.0

The head writes its versions to a file, which Ray copies to each worker.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

FILE = Path("~/.overtone/cluster/versions.json")


def main(argv: list[str] | None = None) -> int:
    """Check this node, and return the exit status: 1 if a version differs."""
    parser = argparse.ArgumentParser(prog="overtone.cluster.node_versions")
    parser.add_argument("node", choices=("head", "worker"))
    parser.add_argument("--ray", default="", help="Ray's version on the machine that starts the cluster")
    args = parser.parse_args(argv)
    here, file = node_versions(), FILE.expanduser()
    problems = mismatches(here, {"ray": args.ray} if args.ray else {}, "the machine that starts the cluster")
    if args.node == "head":
        _write(file, json.dumps(here) + "\n")
    elif file.exists():
        problems += mismatches(here, json.loads(file.read_text("utf-8")), "the head")
    for problem in dict.fromkeys(problems):
        print(f"{platform.node()}: {problem}", file=sys.stderr)  # noqa: T201
    return 1 if problems else 0


def node_versions() -> dict[str, str]:
    """Return this node's versions: "python", and "ray", which is "" if Ray is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        ray = version("ray")
    except PackageNotFoundError:
        ray = ""
    return {"python": platform.python_version(), "ray": ray}


def mismatches(here: Mapping[str, str], there: Mapping[str, str], where: str) -> list[str]:
    """Return a text for each version that differs, with both versions and the command that mends it."""
    problems = []
    for name, wanted in there.items():
        found = here.get(name, "")
        if found == wanted:
            continue
        shown = {"ray": "Ray", "python": "Python"}.get(name, name)
        mend = f'pip install "ray[default]=={wanted}" here'
        if name == "python":
            mend = f"use Python {wanted} here, or {found} there"
        has = f"has {shown} {found}" if found else f"has no {shown}"
        problems.append(f"{has}, and {where} has {wanted}: all nodes need the same; {mend}")
    return problems


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_text(text, "utf-8")
    new.replace(file)


if __name__ == "__main__":
    sys.exit(main())
