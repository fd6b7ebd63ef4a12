"""The page where no other machine can be reached: its server and its browser need no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ui.harness import WITHIN_S

ALONE = ["unshare", "--user", "--map-root-user", "--net", "--fork", "--kill-child"]
ONLY_LOOPBACK = """
import fcntl, os, socket, struct, sys

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up, running
    try:
        one.connect(("192.0.2.1", 80))
    except OSError:
        os.execv(sys.executable, [sys.executable, "-m", "pytest", *sys.argv[1:]])
sys.exit("there is a route")
"""
TESTS = [
    "test_shell.py::test_all_experiments_are_listed_filtered_and_compared",
    "test_plots.py::test_importance_is_said_and_leads_to_the_slice",
]


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare of util-linux")
def test_the_page_works_in_a_network_namespace_without_routes():
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode:
        pytest.skip("network namespaces need rights that this user does not have")
    here = Path(__file__).parent
    options = ["-q", "-p", "no:cacheprovider", "--timeout=900", *(str(here / one) for one in TESTS)]
    command = [*ALONE, sys.executable, "-c", ONLY_LOOPBACK, *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=WITHIN_S * 2, env=environment, cwd=here.parents[1]
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert "skipped" not in done.stdout
