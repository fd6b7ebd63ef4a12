"""Clients of AWS's API, and its errors in words that say what to do."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from overtone.cluster.cloud_errors import CloudError
from overtone.cluster.resource import Resource
from overtone.errors import MissingPackageError

RETRIES = {"mode": "standard", "max_attempts": 10}
"""Throttled requests (RequestLimitExceeded) and lost connections are repeated, with growing pauses."""

BAD_CREDENTIALS = {
    "AuthFailure",
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidClientTokenId",
    "RequestExpired",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
"""Errors about credentials: all further requests fail as well."""
_CLOCK = {"AuthFailure", "RequestExpired", "SignatureDoesNotMatch"}
"""Errors that a wrong clock of this machine causes, too: AWS allows a few minutes."""
_NOT_ALLOWED = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"}
_QUOTAS = {"InstanceLimitExceeded", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded"}


def client(service: str, region: str, profile: str | None = None) -> Any:
    """Return a client of one of AWS's services.

    Credentials are AWS's own business: the environment, `~/.aws`, or the role of the machine.

    Args:
        service: Such as "ec2".
        region: Such as "eu-west-1".
        profile: A profile of `~/.aws/config`; None for that of AWS_PROFILE, or the default.

    Raises:
        MissingPackageError: boto3 is not installed.
        CloudError: There is no such profile.
    """
    try:
        import boto3
        import botocore.session
        from botocore.config import Config
    except ImportError as error:
        raise _missing() from error
    with explained():
        own = botocore.session.Session(profile=profile)
        own.register_component("data_loader", _loader(own.get_config_variable("data_path")))
        session = boto3.session.Session(botocore_session=own)
        limits = Config(retries=RETRIES, connect_timeout=10, read_timeout=60)
        return session.client(service, region_name=region, config=limits)


@functools.cache
def _loader(path: str | None) -> Any:
    """Return a loader of AWS's descriptions of its services, which keeps those that it has read.

    Args:
        path: Further folders that have some, as AWS's own settings name them.
    """
    from botocore.loaders import create_loader

    return create_loader(path)


def _missing() -> MissingPackageError:
    return MissingPackageError("boto3", "aws", 'the provider "aws"')


def error_code(error: Exception) -> str:
    """Return AWS's name of an error, such as "RequestLimitExceeded"; "" if it has none."""
    response = getattr(error, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


@contextmanager
def explained(left: Sequence[Resource] = ()) -> Iterator[None]:
    """Turn errors of AWS's library inside the block into a `CloudError` that says what to do.

    Args:
        left: What may be left then, which the error lists. It may grow inside the block.

    Raises:
        MissingPackageError: boto3 is not installed.
        CloudError: See above.
    """
    try:
        from botocore import exceptions, parsers
    except ImportError as error:
        raise _missing() from error
    try:
        yield
    except exceptions.ClientError as error:
        raise CloudError(_advice(error), left) from error
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError) as error:
        raise CloudError(
            "AWS credentials are missing: run `aws configure` or `aws sso login`, set AWS_PROFILE, or set "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; then repeat the command",
            left,
        ) from error
    except exceptions.ProfileNotFound as error:
        raise CloudError(f"{error}: `aws configure list-profiles` shows those that exist", left) from error
    except (exceptions.ConnectionError, exceptions.HTTPClientError, parsers.ResponseParserError) as error:
        raise CloudError(f"AWS does not answer ({error}): check the region and the network", left) from error
    except exceptions.BotoCoreError as error:  # SSO's own, which differ by version
        raise CloudError(f"{error}: if it is about a login, run `aws sso login`, and repeat", left) from error


def _advice(error: Any) -> str:
    code = error_code(error)
    message = str(error.response.get("Error", {}).get("Message", error)).strip()
    operation = error.operation_name
    if code in BAD_CREDENTIALS:
        now = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        clock = f", or this machine's clock is, which says {now} UTC" if code in _CLOCK else ""
        return (
            f"AWS refused the credentials ({code} at {operation}): they have expired or are wrong{clock}. "
            "Renew them (`aws sso login`, `aws configure`, or new AWS_* variables), then repeat the command"
        )
    if code in _NOT_ALLOWED:
        return (
            f"AWS does not allow {operation} ({code}): docs/launcher.md lists the permissions that the "
            f"launcher needs. AWS says: {message[:300]}"
        )
    if code in _QUOTAS:
        return (
            f"AWS's quota of this account is reached ({code}): ask for more under Service Quotas, Amazon "
            f"EC2, or choose fewer or smaller machines. AWS says: {message[:300]}"
        )
    return f"AWS refused {operation} ({code}): {message[:500]}"
