"""The Python of a head: that of `ray` on the login PATH."""

from __future__ import annotations

_FIND = (
    'r=$(command -v ray); p=$(sed -n "1s/^#! *\\([^ ]*python[^ ]*\\)$/\\1/p" "$r" 2>/dev/null); '
    '[ -x "$p" ] || p=$(dirname "$(readlink -f "$r")")/python3; '
    '{ [ -n "$r" ] && [ -x "$p" ]; } || p=python3; '
)
"""Sets `p`: the interpreter in the first line of `ray`, else the one beside it, else `python3`."""


def python_command(arguments: str) -> str:
    """Return the shell command that runs the head's Python.

    Args:
        arguments: Such as "-m overtone.cluster.driver list".
    """
    return f'{_FIND}"$p" {arguments}'
