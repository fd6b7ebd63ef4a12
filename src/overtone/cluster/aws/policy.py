"""Permissions of the head on AWS: start, tag and terminate machines of its own cluster."""

from __future__ import annotations

from typing import Any

from overtone.cluster.resource import TAG

TRUST: dict[str, Any] = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
"""The trust policy of the head's role: EC2 machines may take it."""

_MADE = ("instance", "volume", "spot-instances-request")
_USED = ("image", "key-pair", "launch-template", "network-interface", "security-group", "snapshot", "subnet")


def head_policy(name: str, region: str, role_arn: str) -> dict[str, Any]:
    """Return the policy of the head's role.

    It starts machines only with the cluster's tag, and tags and terminates only machines that have it.

    Args:
        name: The cluster's name.
        region: The cluster's region.
        role_arn: The role's own ARN: workers of the head's node type have the role, too.
    """
    partition = role_arn.split(":")[1]
    made = [f"arn:{partition}:ec2:{region}:*:{kind}/*" for kind in _MADE]
    used = [f"arn:{partition}:ec2:{region}:*:{kind}/*" for kind in _USED if kind not in ("image", "snapshot")]
    used += [f"arn:{partition}:ec2:{region}::{kind}/*" for kind in ("image", "snapshot")]
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"},
            {"Effect": "Allow", "Action": "ec2:RunInstances", "Resource": used},
            {
                "Effect": "Allow",
                "Action": "ec2:RunInstances",
                "Resource": made,
                "Condition": {"StringEquals": {f"aws:RequestTag/{TAG}": name}},
            },
            {
                "Effect": "Allow",
                "Action": "ec2:CreateTags",
                "Resource": made,
                "Condition": {"StringEquals": {"ec2:CreateAction": "RunInstances"}},
            },
            {
                "Effect": "Allow",
                "Action": ["ec2:CreateTags", "ec2:TerminateInstances"],
                "Resource": made,
                "Condition": {"StringEquals": {f"aws:ResourceTag/{TAG}": name}},
            },
            {
                "Effect": "Allow",
                "Action": "iam:PassRole",
                "Resource": role_arn,
                "Condition": {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
            },
        ],
    }
