"""What the driver asks of the server that makes its trials' processes.

A request is a `REQUEST` structure: what, the number of the process that it is about, and the
index of the trial in it where that matters, a number of bytes likewise, with descriptors where it
needs them. The server answers in frames of tuples:

    ("ready", is_warm, note)        note says why trials are not forked, where they should be
    ("broken", error, traceback)    the Job cannot be loaded; the server has ended
    ("forked", number, pid)
    ("failed", number, error)       no process could be made
    ("exited", number, status)      with all that it left behind; status as from waitpid
    ("limit", number, index, error) the trial was past a limit; the server has killed it
    ("memory", number, index, error)  it used the most memory when memory was short, and was killed
    ("largest", number, index, error)  it is the one for which that would be so now
    ("noticed", number)             somebody has sent it a SIGTERM, and it may save first
"""

from __future__ import annotations

import struct

REQUEST = struct.Struct("<cxxxIIxxxxQ")

JOB = b"J"
"""Load the Job from this descriptor: the first request."""

NEW = b"N"
"""Make a process; its line to the driver, its stdout, its stderr."""

TERMINATE = b"T"
"""Send SIGTERM to a process and what it started."""

KILL = b"K"
"""Kill a process and what it started."""

WATCH = b"W"
"""A trial has begun in a process: hold it to the limits. The bytes: what it has declared to need."""

UNWATCH = b"U"
"""It has ended, or is paused: what it used is remembered for when it goes on."""

GUARD = b"G"
"""End the trial that uses the most memory before others take action. The number: at how many millionths
of the machine's memory they do."""

BOOT_SERVER = (
    "import sys; numbers = map(int, sys.argv[1:3]); sys.path[:] = sys.argv[3:]; "
    "from overtone.worker.process_tree import wake_with_parent; wake_with_parent(); "
    "from overtone.worker.server.warm_server import main; main(*numbers)"
)
"""What `new_python` runs to be the server; its arguments: the descriptor of the Job, or -1, and its
parent's pid."""

BOOT_TRIAL = (
    "import sys; numbers = map(int, sys.argv[1:4]); sys.path[:] = sys.argv[4:]; "
    "from overtone.worker.server.spawn import main; main(*numbers)"
)
"""The same for one trial's process; its arguments: the descriptor of the Job, the server's pid,
the descriptor of the board."""
