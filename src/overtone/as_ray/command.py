"""The command `python -m overtone.as_ray script.py [arguments]`."""

from __future__ import annotations

import builtins
import io
import os
import runpy
import sys

from overtone.as_ray import install_as_ray

USAGE = """usage: python -m overtone.as_ray SCRIPT [ARGUMENT ...]
       python -m overtone.as_ray -m MODULE [ARGUMENT ...]

Run a script or a module with Overtone in place of ray.tune, ray.train and ray.air."""


def main() -> None:
    """Run the script that the command line names as `__main__`."""
    given = sys.argv[1:]
    if not given or given[0] in ("-h", "--help") or given == ["-m"]:
        print(USAGE, file=sys.stdout if given[:1] in (["-h"], ["--help"]) else sys.stderr)
        sys.exit(0 if given[:1] in (["-h"], ["--help"]) else 2)
    install_as_ray()
    if given[0] == "-m":
        sys.argv[:] = given[1:]
        runpy.run_module(given[1], run_name="__main__", alter_sys=True)
        return
    path = given[0]
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    sys.argv[:] = given
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    script = vars(sys.modules["__main__"])
    script.clear()  # the script runs in this module, so that threads and exit handlers find its names later
    script.update(__name__="__main__", __file__=path, __builtins__=builtins, __spec__=None, __doc__=None)
    exec(code, script)
