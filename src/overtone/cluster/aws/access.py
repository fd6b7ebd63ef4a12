"""Resources that exist before a cluster's first machine on AWS: key pair, security group, role, profile.

Each is tagged in the request that makes it, and each step finds what an earlier, broken start made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from overtone.cluster import ssh_keys
from overtone.cluster.aws import existing, names
from overtone.cluster.aws.policy import TRUST, head_policy
from overtone.cluster.aws.session import error_code
from overtone.cluster.cloud_errors import CloudError
from overtone.cluster.resource import TAG

_KEY_TAG = "overtone-key"
_POLICY = "overtone"
_PATH = "/overtone/"
_NAME_TAKEN = ("EntityAlreadyExists", "InvalidGroup.Duplicate", "InvalidKeyPair.Duplicate")


def ensure_key_pair(ec2: Any, name: str, key: Path) -> str:
    """Return the name of the cluster's key pair, which is imported if it is not there.

    Args:
        ec2: The client of EC2.
        name: The cluster's name.
        key: The private key on this machine.

    Raises:
        CloudError: The cluster has machines with another key, or somebody else's key pair has the name.
    """
    key_name, own = names.access_name(name), ssh_keys.fingerprint(key)
    tagged = [{"Name": f"tag:{TAG}", "Values": [name]}]
    for pair in ec2.describe_key_pairs(Filters=tagged)["KeyPairs"]:
        if {"Key": _KEY_TAG, "Value": own} in pair.get("Tags", []):
            return str(pair["KeyName"])
        if existing.instances(ec2, name):
            raise CloudError(
                f"cluster {name} runs already, with a key that this machine does not have: use the machine "
                "that started it, another name, or `overtone down`"
            )
        ec2.delete_key_pair(KeyPairId=pair["KeyPairId"])
    specification = names.tag_specification("key-pair", name)
    specification[0]["Tags"] = [*names.tags(name), {"Key": _KEY_TAG, "Value": own}]
    material = ssh_keys.public_key(key).encode()
    with _names_taken(f"a key pair {key_name}"):
        ec2.import_key_pair(KeyName=key_name, PublicKeyMaterial=material, TagSpecifications=specification)
    return key_name


def ensure_group(ec2: Any, name: str, subnets: list[str], ssh_from: str) -> str:
    """Return the ID of the cluster's security group: open within itself, and for SSH from one network.

    Args:
        ec2: The client of EC2.
        name: The cluster's name.
        subnets: The subnets that the user chose; the group is in their network, else in the default one.
        ssh_from: The network that may reach port 22, such as "203.0.113.7/32". It is added to those of
            earlier calls.

    Raises:
        CloudError: There is no such network, or somebody else's group has the name.
    """
    vpc = _network(ec2, subnets)
    of_cluster = [{"Name": f"tag:{TAG}", "Values": [name]}, {"Name": "vpc-id", "Values": [vpc]}]
    groups = ec2.describe_security_groups(Filters=of_cluster)["SecurityGroups"]
    if groups:
        group = str(groups[0]["GroupId"])
    else:
        group_name = names.access_name(name)
        with _names_taken(f"a security group {group_name}"):
            group = ec2.create_security_group(
                GroupName=group_name,
                Description=f"Overtone cluster {name}",
                VpcId=vpc,
                TagSpecifications=names.tag_specification("security-group", name),
            )["GroupId"]
    within = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    family = "Ipv6Ranges" if ":" in ssh_from else "IpRanges"
    network = {"CidrIpv6" if ":" in ssh_from else "CidrIp": ssh_from}
    ssh = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, family: [network]}
    for rule in (within, ssh):
        _allow(ec2, group, rule)
    return group


def _allow(ec2: Any, group: str, rule: dict[str, Any]) -> None:
    with _ignored_error("InvalidPermission.Duplicate"):
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])


def _network(ec2: Any, subnets: list[str]) -> str:
    if subnets:
        return str(ec2.describe_subnets(SubnetIds=subnets)["Subnets"][0]["VpcId"])
    defaults = ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
    if not defaults:
        raise CloudError(
            "this account has no default network in the region: name subnets that give their machines public "
            "addresses, such as `provider: {subnets: [subnet-0123456789abcdef0]}`, or make a default network "
            "by `aws ec2 create-default-vpc`"
        )
    return str(defaults[0]["VpcId"])


def ensure_profile(iam: Any, name: str, region: str) -> str:
    """Return the name of the head's instance profile, which is made with its role if it is not there.

    Raises:
        CloudError: Somebody else's role or profile has the name.
    """
    role = names.role_name(name, region)
    found = existing.iam_role(iam, role)
    if not found:
        with _names_taken(f"a role {role}"):
            found = iam.create_role(
                RoleName=role,
                Path=_PATH,
                AssumeRolePolicyDocument=json.dumps(TRUST),
                Description=f"Head of Overtone cluster {name}",
                Tags=names.tags(name),
            )["Role"]
    elif not names.has_tag(found.get("Tags"), name):
        raise _taken(f"a role {role}")
    policy = json.dumps(head_policy(name, region, found["Arn"]))
    iam.put_role_policy(RoleName=role, PolicyName=_POLICY, PolicyDocument=policy)
    profile = existing.instance_profile(iam, role)
    if not profile:
        with _names_taken(f"an instance profile {role}"):
            made = iam.create_instance_profile(InstanceProfileName=role, Path=_PATH, Tags=names.tags(name))
        profile = made["InstanceProfile"]
    elif not names.has_tag(profile.get("Tags"), name):
        raise _taken(f"an instance profile {role}")
    if not profile["Roles"]:
        with _ignored_error("LimitExceeded"):  # another command added it meanwhile
            iam.add_role_to_instance_profile(InstanceProfileName=role, RoleName=role)
    return role


@contextmanager
def _names_taken(what: str) -> Iterator[None]:
    """Turn AWS's errors about a name that is taken into one that says what to do."""
    from botocore.exceptions import ClientError

    try:
        yield
    except ClientError as error:
        if error_code(error) not in _NAME_TAKEN:
            raise
        raise _taken(what) from error


@contextmanager
def _ignored_error(code: str) -> Iterator[None]:
    from botocore.exceptions import ClientError

    try:
        yield
    except ClientError as error:
        if error_code(error) != code:
            raise


def _taken(what: str) -> CloudError:
    return CloudError(
        f"{what} exists already and does not have the cluster's tag: it may be somebody else's, and was left "
        "as it is. Choose another name for the cluster"
    )
