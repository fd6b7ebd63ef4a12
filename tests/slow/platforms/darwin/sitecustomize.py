"""Makes each Python process of a run believe that it is on macOS: no /proc, no prctl, no pidfd, no peer credentials."""

import asyncio  # noqa: F401  # the standard library and these packages see the true system
import builtins
import multiprocessing.connection  # noqa: F401
import os
import selectors  # noqa: F401
import signal
import socket
import subprocess  # noqa: F401
import sys

import numpy as np  # noqa: F401
import psutil  # noqa: F401

ABSENT = {
    os: ("eventfd", "memfd_create", "pidfd_open", "pipe2", "prlimit", "sched_getaffinity", "waitid"),
    signal: ("pidfd_send_signal", "sigtimedwait", "sigwaitinfo"),
    socket: ("SO_PEERCRED", "SOCK_CLOEXEC", "SOCK_NONBLOCK"),
}


def without_proc(function):
    def call(path, *rest, **options):
        if str(path).startswith("/proc") and "overtone" in sys._getframe(1).f_code.co_filename:
            raise FileNotFoundError(2, "No such file or directory", path)
        return function(path, *rest, **options)

    return call


sys.platform = "darwin"
for module, names in ABSENT.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
builtins.open = without_proc(builtins.open)
for name in ("listdir", "open", "readlink"):
    setattr(os, name, without_proc(getattr(os, name)))
