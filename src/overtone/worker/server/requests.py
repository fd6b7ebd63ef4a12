"""Requests of the driver to the server that makes trial processes.

A request is a `REQUEST` structure: the kind, the number of the process, the index of its trial if
needed, and a number of bytes if needed. Some requests carry descriptors. The server answers in
frames of tuples:

    ("ready", is_warm, note)        note says why trials are not forked, if they should be
    ("broken", error, traceback)    the Job cannot be loaded; the server has ended
    ("forked", number, pid)
    ("failed", number, error)       no process could be made
    ("exited", number, status)      with all its descendants; status as from waitpid
    ("limit", number, index, error) the trial exceeded a limit; the server has killed it
    ("memory", number, index, error)  it used the most memory when memory was short, and was killed
    ("largest", number, index, error)  it would now be killed first if memory ran short
    ("noticed", number)             the process got a SIGTERM, and may save first
"""

from __future__ import annotations

import struct

REQUEST = struct.Struct("<cxxxIIxxxxQ")

JOB = b"J"
"""Load the Job from this descriptor: the first request."""

NEW = b"N"
"""Make a process; descriptors: its connection to the driver, its stdout, its stderr."""

TERMINATE = b"T"
"""Send SIGTERM to a process and its process group."""

KILL = b"K"
"""Kill a process and its descendants."""

WATCH = b"W"
"""A trial has begun in a process: enforce its limits. The bytes: its declared memory."""

UNWATCH = b"U"
"""The trial has ended or is paused: its usage is kept for when it resumes."""

GUARD = b"G"
"""End the trial that uses the most memory before others take action. The number: the part of the
machine's memory at which others do, in millionths."""

BOOT_SERVER = (
    "import sys; numbers = map(int, sys.argv[1:3]); sys.path[:] = sys.argv[3:]; "
    "from overtone.worker.process_tree import wake_with_parent; wake_with_parent(); "
    "from overtone.worker.server.warm_server import main; main(*numbers)"
)
"""Code that `new_python` runs as the server; its arguments: the descriptor of the Job, or -1, and its
parent's pid."""

BOOT_TRIAL = (
    "import sys; numbers = map(int, sys.argv[1:4]); sys.path[:] = sys.argv[4:]; "
    "from overtone.worker.server.spawn import main; main(*numbers)"
)
"""Code that `new_python` runs as a trial's process; its arguments: the descriptor of the Job, the
server's pid, the descriptor of the board."""
