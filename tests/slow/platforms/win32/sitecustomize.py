"""Makes a Python process believe that it is on Windows: no fork, no flock, no Unix sockets, few signals."""

import asyncio  # noqa: F401  # the standard library and these packages see the true system
import concurrent.futures  # noqa: F401
import json  # noqa: F401
import logging  # noqa: F401
import multiprocessing.connection  # noqa: F401
import os
import selectors  # noqa: F401
import shutil  # noqa: F401
import signal
import socket
import sqlite3  # noqa: F401
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401
import threading  # noqa: F401

import numpy as np  # noqa: F401
import psutil  # noqa: F401
import rich.console  # noqa: F401

ABSENT = {
    os: ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "fork", "getuid", "killpg", "mkfifo",
         "posix_spawn", "register_at_fork", "sched_getaffinity", "setsid", "statvfs", "uname", "waitid"),
    signal: ("SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGSTOP", "SIGTTIN", "SIGTTOU", "SIGUSR1",
             "SIGUSR2", "SIGWINCH", "pthread_sigmask", "sigtimedwait", "sigwaitinfo"),
    socket: ("AF_UNIX", "SCM_RIGHTS", "SO_PEERCRED"),
}  # fmt: skip

sys.platform = "win32"
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for module, names in ABSENT.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
