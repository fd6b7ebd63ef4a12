"""The command line of a new Python interpreter like this one."""

from __future__ import annotations

import sys


def new_python(boot: str, *arguments: str) -> list[str]:
    """Return the command of a new Python that runs the code `boot` with this one's options.

    Its `sys.argv[1:]` are the `arguments`, and then this process's `sys.path`.
    """
    flags = ["-" + "O" * sys.flags.optimize] if sys.flags.optimize else []
    flags += [f"-W{one}" for one in sys.warnoptions]
    for name, value in sys._xoptions.items():
        if name != "importtime":
            flags += ["-X", name if value is True else f"{name}={value}"]
    return [sys.executable, *flags, "-c", boot, *arguments, *sys.path]
