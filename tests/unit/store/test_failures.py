"""What errors of file systems mean."""

import errno

import pytest

from overtone.errors import MissingPackageError, StorageError
from overtone.store.failures import UnreachableError, is_passing, missing, told


def error_of(module, name, text="it failed", **attributes):
    """An error as another package would raise it."""
    kind = type(name, (Exception,), {"__module__": module})
    error = kind(text)
    error.__dict__.update(attributes)
    return error


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (error_of("botocore.exceptions", "ConnectionError"), True),
        (error_of("aiohttp.client_exceptions", "ClientError"), True),
        (error_of("mine", "ClientError"), False),
        (error_of("gcsfs.retry", "HttpError", code=503), True),
        (error_of("gcsfs.retry", "HttpError", code=429), True),
        (error_of("gcsfs.retry", "HttpError", code=403), False),
        (error_of("botocore.exceptions", "NoCredentialsError"), False),
        (OSError(errno.EINVAL, "invalid bucket name"), False),
        (OSError(errno.EIO, "internal error"), True),
        (KeyError("x"), False),
    ],
)
def test_which_pass(error, passes):
    assert is_passing(error) is passes
    assert isinstance(told(error, "s3://b", "written"), UnreachableError) is passes


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (error_of("botocore.exceptions", "NoCredentialsError"), "Log in where this runs"),
        (PermissionError("Access Denied"), "s3://b cannot be written: Access Denied. The credentials"),
        (FileNotFoundError("The specified bucket does not exist"), "Make the bucket or folder first"),
    ],
)
def test_what_to_do(error, advice):
    assert advice in str(told(error, "s3://b", "written"))


def test_a_missing_package_is_named():
    for protocol, command in (("s3", "overtone[s3]"), ("gs", "overtone[gcs]")):
        found = missing(protocol, ImportError("no"))
        assert isinstance(found, MissingPackageError)
        assert command in str(found)
    assert "overtone[remote]" in str(missing("memory", ModuleNotFoundError("no", name="fsspec")))
    assert type(missing("abfs", ImportError("Install adlfs"))) is StorageError
    assert "Install adlfs" in str(missing("abfs", ImportError("Install adlfs")))
