"""The login of the dashboard: one token, and sessions that are signed with it."""

from __future__ import annotations

import hmac
import os
import secrets
import time
from pathlib import Path

from overtone.errors import ArgumentError, StorageError
from overtone.regular_files import read_regular

TOKEN_BYTES = 32
"""Random bytes of a token."""

SESSION_S = 7 * 24 * 3600
"""Seconds after which a browser has to log in again."""

_LEAST_LETTERS = 32
_MOST_LETTERS = 4096


def new_token() -> str:
    """Return a new token: 32 random bytes as URL-safe text."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_in(path: str | os.PathLike[str]) -> str:
    """Return the token in a file.

    Raises:
        ArgumentError: The file can be read by other users, or its token is too short.
        StorageError: The file cannot be read.
    """
    file = Path(path).expanduser()
    try:
        if file.stat().st_mode & 0o077:
            raise ArgumentError(
                f"--token-file {file}: other users may read or write it; run chmod 600 {file}"
            )
        token = read_regular(file).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it must be ASCII text"
        raise StorageError(f"--token-file {file} cannot be read: {reason}") from error
    if not _LEAST_LETTERS <= len(token) <= _MOST_LETTERS or not token.isprintable() or " " in token:
        raise ArgumentError(
            f"--token-file {file}: the token must have {_LEAST_LETTERS} or more letters without spaces; "
            'make one: python -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    return token


class Sessions:
    """Checks tokens and makes sessions.

    A session is an expiry time and a random text, signed with a key that is derived from the token. The
    server stores no session, so a session stays valid if the server is started again with the same token.

    Args:
        token: The token.
    """

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._key = hmac.digest(self._token, b"session of overtone ui", "sha256")

    def is_token(self, given: str) -> bool:
        """Return whether `given` is the token; takes the same time for all texts of a length."""
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self._token)

    def new(self) -> str:
        """Return a new session, as the value of a cookie."""
        facts = f"{int(time.time()) + SESSION_S}.{secrets.token_urlsafe(16)}"
        return f"{facts}.{self._signature(facts)}"

    def is_valid(self, session: str) -> bool:
        """Return whether this server's token signed the session, and it has not expired."""
        facts, _, signature = session.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(facts).encode()):
            return False
        return int(facts.partition(".")[0]) > time.time()

    def _signature(self, facts: str) -> str:
        return hmac.digest(self._key, facts.encode(), "sha256").hex()
