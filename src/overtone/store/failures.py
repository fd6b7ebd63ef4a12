"""Classification of errors of remote file systems: transient or lasting, with advice for the user."""

from __future__ import annotations

import errno

from overtone.errors import MissingPackageError, StorageError

_EXTRAS = {
    "s3": ("s3fs", "s3"),
    "s3a": ("s3fs", "s3"),
    "gs": ("gcsfs", "gcs"),
    "gcs": ("gcsfs", "gcs"),
}
_LASTING = frozenset(
    {errno.EINVAL, errno.EPERM, errno.EACCES, errno.ENAMETOOLONG, errno.ENOSYS, errno.EISDIR, errno.ENOTDIR}
)
_LASTING_KINDS = (PermissionError, FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)
_PASSING_NAMES = frozenset(
    {
        # botocore's, which are not OSErrors
        "ConnectionError", "HTTPClientError", "IncompleteReadError", "ResponseStreamingError",
        # aiohttp's, urllib3's and requests'
        "ClientError", "HTTPError", "RequestException", "TransportError", "FSTimeoutError", "HttpError",
    }
)  # fmt: skip
_CLIENTS = frozenset(
    {"botocore", "aiohttp", "urllib3", "requests", "gcsfs", "google", "fsspec", "s3fs", "adlfs", "azure"}
)
_NO_CREDENTIALS = frozenset(
    {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "ProfileNotFound",
     "DefaultCredentialsError", "RefreshError"}
)  # fmt: skip


class UnreachableError(StorageError):
    """A store failed in a way that may pass: a retry may succeed."""


def is_passing(error: BaseException) -> bool:
    """Return whether a retry may succeed: after a timeout, a lost connection, a busy server."""
    if isinstance(error, UnreachableError):
        return True
    if isinstance(error, (StorageError, *_LASTING_KINDS)):
        return False
    if isinstance(error, TimeoutError):
        return True
    if isinstance(error, OSError):
        return error.errno not in _LASTING
    code = _status(error)
    if code is not None:
        return code >= 500 or code in (408, 429)
    return any(
        kind.__name__ in _PASSING_NAMES and kind.__module__.partition(".")[0] in _CLIENTS
        for kind in type(error).__mro__
    )


def told(error: BaseException, url: str, doing: str) -> StorageError:
    """Return `error` as a StorageError that names the URL, the failed action and a remedy."""
    what = " ".join(str(error).split()) or type(error).__name__
    failed = f"{url} cannot be {doing}: {what}"
    if is_passing(error):
        return UnreachableError(failed)
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & _NO_CREDENTIALS:
        return StorageError(
            f"{failed}. Log in where this runs (for s3:// `aws configure`, or the variables "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
        )
    if isinstance(error, PermissionError):
        return StorageError(f"{failed}. The credentials that are used here may not do that: allow it there")
    if isinstance(error, FileNotFoundError):
        return StorageError(f"{failed}. Make the bucket or folder first, or correct the URL")
    return StorageError(failed)


def missing(protocol: str, error: BaseException) -> StorageError | MissingPackageError:
    """Return the error for a failed import of fsspec or of the package for `protocol`."""
    package, extra = _EXTRAS.get(protocol, ("fsspec", "remote"))
    name = getattr(error, "name", None)
    if name == "fsspec" and protocol not in _EXTRAS:
        return MissingPackageError("fsspec", "remote", f"{protocol}:// storage")
    if protocol in _EXTRAS:
        return MissingPackageError(package, extra, f"{protocol}:// storage")
    return StorageError(f"{protocol}:// storage needs another package: {error}")


def _status(error: BaseException) -> int | None:
    """Return the HTTP status of an error, or None if it has none."""
    for name in ("status", "code", "http_status"):
        value = getattr(error, name, None)
        if isinstance(value, int) or (isinstance(value, str) and value.isdigit()):
            return int(value)
    return None
