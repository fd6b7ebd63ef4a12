"""Which machine image a node type gets: the newest that the publisher names, by AWS's public parameters."""

from __future__ import annotations

import re
from typing import Any

from overtone.cluster.aws.session import error_code
from overtone.cluster.cloud_errors import CloudError

_PLAIN = "/aws/service/canonical/ubuntu/server/22.04/stable/current/{cpu}/hvm/ebs-gp2/ami-id"
_NVIDIA = "/aws/service/deeplearning/ami/{cpu}/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"


def image_parameter(node_type: str) -> str:
    """Return the public parameter that names the image for a machine type.

    All images have the same Ubuntu, and so the same Python: Ray's nodes must agree on it.

    Args:
        node_type: Such as "g5.xlarge", which has a GPU of NVIDIA's, or "m7g.large", whose CPU is ARM's.
    """
    family = node_type.split(".")[0]
    is_arm = re.match(r"[a-z]+\d+g", family) is not None
    if re.match(r"(g|p)\d", family):
        return _NVIDIA.format(cpu="arm64" if is_arm else "x86_64")
    return _PLAIN.format(cpu="arm64" if is_arm else "amd64")


def image_of(ssm: Any, parameter: str) -> str:
    """Return the ID of the image that a public parameter names.

    Raises:
        CloudError: The region does not have the parameter.
    """
    from botocore.exceptions import ClientError

    try:
        return str(ssm.get_parameter(Name=parameter)["Parameter"]["Value"])
    except ClientError as error:
        if error_code(error) != "ParameterNotFound":
            raise
        raise CloudError(
            f"the region has no image {parameter}: name one with Ubuntu, such as "
            "`provider: {image: ami-0123456789abcdef0}`"
        ) from error
