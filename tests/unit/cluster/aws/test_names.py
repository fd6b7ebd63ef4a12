"""Names, tags and client tokens on AWS."""

from __future__ import annotations

from overtone.cluster.aws import names
from overtone.cluster.aws.images import image_parameter
from overtone.cluster.aws.policy import head_policy


def test_client_tokens_are_told_apart_by_cluster() -> None:
    token = names.new_client_token("digits")
    assert names.is_client_token(token, "digits")
    assert not names.is_client_token(token, "digit")
    assert not names.is_client_token(names.new_client_token("digits-2"), "digits")
    assert names.new_client_token("digits") != token


def test_longest_names_fit_into_aws_limits() -> None:
    name = "a" * names.MOST_NAME
    assert len(names.new_client_token(name)) <= 64
    assert len(names.role_name(name, "ap-southeast-99")) <= 64


def test_tags() -> None:
    assert names.has_tag(names.tags("digits"), "digits")
    assert not names.has_tag(names.tags("digits"), "digit")
    assert not names.has_tag(None, "digits")


def test_head_changes_only_machines_with_its_tag() -> None:
    policy = head_policy("digits", "eu-west-1", "arn:aws-cn:iam::1:role/overtone/r")
    for statement in policy["Statement"]:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        if "ec2:TerminateInstances" in actions:
            assert statement["Condition"] == {"StringEquals": {"aws:ResourceTag/overtone-cluster": "digits"}}
        if statement["Resource"] == "*":
            assert actions == ["ec2:Describe*"]
        assert "ec2:*" not in actions
        assert all(":aws-cn:" in arn for arn in statement["Resource"] if arn.startswith("arn:"))


def test_images_by_machine_type() -> None:
    assert "/ubuntu/server/22.04/stable/current/amd64/" in image_parameter("m6i.large")
    assert "/ubuntu/server/22.04/stable/current/arm64/" in image_parameter("m7g.large")
    assert image_parameter("g5.xlarge").startswith("/aws/service/deeplearning/ami/x86_64/")
    assert image_parameter("g5g.xlarge").startswith("/aws/service/deeplearning/ami/arm64/")
    assert image_parameter("p4d.24xlarge").startswith("/aws/service/deeplearning/ami/x86_64/")
