"""The key pair of a cluster: made on this machine, so that no cloud ever has the private half."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

from overtone.cluster.cloud_errors import CloudError

KEY_FILE = "key"
"""The private key's file in the folder of the cluster's state; the public one has `.pub` added."""


def private_key(folder: Path) -> Path:
    """Return the private key of a cluster, and make it if the cluster has none yet.

    Args:
        folder: The folder of the cluster's state.

    Raises:
        CloudError: `ssh-keygen` failed.
    """
    key = folder / KEY_FILE
    if not key.exists():
        # A new name, which becomes the key's once it is whole: two commands may do this at once.
        fresh = folder / f"{KEY_FILE}.{os.getpid()}.{threading.get_ident()}"
        _keygen("-q", "-t", "ed25519", "-N", "", "-C", "overtone", "-f", str(fresh))
        fresh.with_name(f"{fresh.name}.pub").unlink()
        try:
            os.link(fresh, key)
        except FileExistsError:  # the other command was first
            pass
        finally:
            fresh.unlink()
    return key


def public_key(key: Path) -> str:
    """Return the public key of a private one, as a line without a comment.

    Raises:
        CloudError: `ssh-keygen` cannot read the key, such as one with a passphrase.
    """
    return " ".join(_keygen("-y", "-P", "", "-f", str(key)).split()[:2])


def fingerprint(key: Path) -> str:
    """Return the fingerprint of a private key, such as "SHA256:abc"."""
    return _keygen("-l", "-E", "sha256", "-f", str(key)).split()[1]


def _keygen(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["ssh-keygen", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise CloudError("ssh-keygen is not installed: install OpenSSH's client") from error
    if done.returncode != 0:
        raise CloudError(f"ssh-keygen failed: {done.stderr.strip()}")
    return done.stdout
