"""The keys that AWS needs in Ray's YAML."""

from __future__ import annotations

from typing import Any

from overtone.cluster.aws.ray_keys import MODULE, add_keys
from overtone.cluster.config import ClusterConfig, Provider, Workers

TAG = {"Key": "overtone-cluster", "Value": "digits"}


def config(spot: bool = True, **settings: Any) -> ClusterConfig:
    provider = Provider("aws", {"region": "eu-west-1", **settings})
    return ClusterConfig("digits", provider, "m6i.large", Workers("g5.xlarge", 0, 8, spot))


def general() -> dict[str, Any]:
    return {
        "cluster_name": "digits",
        "provider": {"type": "aws", "region": "eu-west-1", "disk": 50, "ssh_from": "192.0.2.0/24"},
        "head_node_type": "head",
        "available_node_types": {
            "head": {"node_config": {}},
            "worker": {"node_config": {}, "max_workers": 8},
        },
    }


def nodes(ray: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    types = ray["available_node_types"]
    return types["head"]["node_config"], types["worker"]["node_config"]


def test_general_form_gets_all_that_aws_needs() -> None:
    given = general()
    ray = add_keys(given, config(disk=50), "2.60.0")
    assert given == general()
    assert ray["provider"] == {
        "type": "external",
        "module": MODULE,
        "region": "eu-west-1",
        "cache_stopped_nodes": False,
    }
    head, worker = nodes(ray)
    assert (head["InstanceType"], worker["InstanceType"]) == ("m6i.large", "g5.xlarge")
    assert "InstanceMarketOptions" not in head
    assert worker["InstanceMarketOptions"]["MarketType"] == "spot"
    for node in (head, worker):
        assert node["InstanceInitiatedShutdownBehavior"] == "terminate"
        assert node["MetadataOptions"]["HttpTokens"] == "required"
        (disk,) = node["BlockDeviceMappings"]
        assert (disk["Ebs"]["VolumeSize"], disk["Ebs"]["DeleteOnTermination"]) == (50, True)
        assert all(one["Tags"] == [TAG] for one in node["TagSpecifications"])
    kinds = [one["ResourceType"] for one in worker["TagSpecifications"]]
    assert kinds == ["instance", "volume", "spot-instances-request"]
    assert any('"ray[default]==2.60.0"' in command for command in ray["setup_commands"])


def test_again_changes_nothing() -> None:
    ray = add_keys(general(), config(), "2.60.0")
    assert add_keys(ray, config(), "2.60.0") == ray


def test_values_of_the_yaml_are_kept() -> None:
    ray = general()
    head, _ = nodes(ray)
    head.update(InstanceType="m5.large", KeyName="mine", MetadataOptions={"HttpTokens": "optional"})
    head["TagSpecifications"] = [{"ResourceType": "instance", "Tags": [{"Key": "team", "Value": "a"}]}]
    head, worker = nodes(add_keys(ray, config(spot=False)))
    assert head["InstanceType"] == "m5.large"
    assert head["MetadataOptions"] == {"HttpTokens": "optional"}
    assert head["TagSpecifications"][0]["Tags"] == [{"Key": "team", "Value": "a"}, TAG]
    assert "InstanceMarketOptions" not in worker


def test_what_would_leave_something_is_overruled() -> None:
    ray = general()
    ray["provider"]["cache_stopped_nodes"] = True
    head, worker = nodes(ray)
    head.update(InstanceMarketOptions={"MarketType": "spot"}, InstanceInitiatedShutdownBehavior="stop")
    worker["BlockDeviceMappings"] = [{"DeviceName": "/dev/sdb", "Ebs": {"DeleteOnTermination": False}}]
    worker["TagSpecifications"] = [
        {"ResourceType": "volume", "Tags": [{"Key": "overtone-cluster", "Value": "other"}]}
    ]
    ray = add_keys(ray, config())
    head, worker = nodes(ray)
    assert ray["provider"]["cache_stopped_nodes"] is False
    assert "InstanceMarketOptions" not in head
    assert head["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert worker["BlockDeviceMappings"][0]["Ebs"]["DeleteOnTermination"] is True
    assert worker["TagSpecifications"][0]["Tags"] == [TAG]


def test_settings_become_keys_of_each_node() -> None:
    given = config(zone="eu-west-1b", subnets=("subnet-1",), image="ami-1", instance_profile="mine")
    ray = add_keys(general(), given)
    assert ray["provider"]["availability_zone"] == "eu-west-1b"
    for node in nodes(ray):
        assert node["SubnetIds"] == ["subnet-1"]
        assert node["ImageId"] == "ami-1"
        assert node["IamInstanceProfile"] == {"Name": "mine"}
