"""Reasons why a host cannot be reached, from the errors that ssh prints."""

from __future__ import annotations

import re
from pathlib import Path


def reason(said: str, key: Path | None, connect_s: float) -> str:
    """Return why a host could not be reached, with what to do about it.

    Args:
        said: The errors that ssh printed.
        key: The file of the private key; None for ssh's own keys and its agent.
        connect_s: Seconds that the host had to answer.
    """
    last = said.splitlines()[-1] if said else "the connection was lost"
    if "Host key verification failed" in said:
        return _changed_key(said)
    if "Permission denied" in said:
        what = f"the key {key}" if key else "each key of your ssh agent and ~/.ssh"
        return f"refused the login with {what} ({last}); is the public key in its ~/.ssh/authorized_keys"
    if "timed out" in said:
        return f"no answer within {connect_s:g} s ({last}); is it up, and is the address right"
    return last


def _changed_key(said: str) -> str:
    """Return what is known of a host key that is not the recorded one: ssh names both."""
    new = re.search(r"fingerprint for the (\S+) key sent by the remote host is\s+(\S+?)\.?\s", said)
    old = re.search(r"^Offending (?:\S+ )?key in (.+):(\d+)\s*$", said, re.MULTILINE)
    kind = f"{new[1]} " if new else ""
    now = f" It is now {new[2]}." if new else ""
    line = f"line {old[2]} of {old[1]}" if old else "its line in the cluster's known_hosts"
    return (
        f"its {kind}host key is another one than before.{now} If the host was installed anew, delete {line}, "
        "which has the old key; else somebody may be listening"
    )
