"""A driver's own handler of SIGTERM is given back after it has connected to a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = """
import os
import signal
import sys
import ray
from overtone.engines.ray import cluster_connection

class Ended(Exception):
    pass

def end(signum, frame):
    raise Ended

def connect():
    cluster_connection.connect(sys.argv[1])
    return signal.getsignal(signal.SIGTERM)

print("rays own", connect() not in (signal.SIG_DFL, end))
ray.shutdown()
signal.signal(signal.SIGTERM, end)
print("given back", connect() is end)
try:
    os.kill(os.getpid(), signal.SIGTERM)  # before Ray's shutdown, which leaves the system's default
except Ended:
    print("called")
ray.shutdown()
"""


def test_a_drivers_handler_of_sigterm_is_given_back(cluster: Any, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), cluster.address]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["rays own True", "given back True", "called"]
