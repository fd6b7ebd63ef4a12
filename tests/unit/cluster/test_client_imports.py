"""What the launcher's commands import: they say on Windows, too, what is possible there."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = (
    "apply", "attach", "cloud_clusters", "head_files", "listing_of_clusters", "live_status", "plan",
    "remote_dashboard", "submit",
)  # fmt: skip
"""The modules that the launcher's commands import first."""

CODE = """
import importlib, sys
for name in ("fcntl", "pwd", "grp", "pty", "termios", "ray"):
    sys.modules[name] = None
for name in sys.argv[1:]:
    importlib.import_module(f"overtone.cluster.{name}")
heavy = {"numpy", "yaml", "boto3", "kubernetes"} & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.parametrize("name", MODULES)
def test_a_command_needs_neither_ray_nor_modules_of_unix(name):
    done = subprocess.run([sys.executable, "-c", CODE, name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
