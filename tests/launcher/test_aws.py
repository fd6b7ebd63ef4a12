"""AWS: Ray's own bootstrap and node provider against moto's server: the life of a cluster."""

from __future__ import annotations

import json
import textwrap
import threading
from pathlib import Path

import pytest

pytest.importorskip("moto")
pytest.importorskip("ray")

from overtone.cluster.aws import existing, launch
from overtone.cluster.aws.ending import end_from_head
from overtone.cluster.aws.existing import clusters
from overtone.cluster.aws.session import client
from overtone.cluster.cloud_errors import CloudError
from overtone.cluster.config import ClusterConfig, ConfigError
from overtone.cluster.providers import aws as provider
from overtone.cluster.state import State
from tests.launcher.aws_lab import (
    ALL,
    CONFIG,
    MARKS,
    TAG,
    all_machines,
    down,
    empty_account,
    kinds,
    launch_workers,
    machines,
    up,
    written,
)
from tests.launcher.aws_servers import REGION, Aws, Fault

pytestmark = MARKS


@pytest.fixture
def aws(aws_of_all: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Aws:
    return empty_account(aws_of_all, tmp_path, monkeypatch)


@pytest.fixture
def config(tmp_path: Path) -> ClusterConfig:
    return written(tmp_path, CONFIG)


class TestUpAndDown:
    def test_head_has_tags_role_and_client_token_and_is_on_demand(
        self, aws: Aws, config: ClusterConfig
    ) -> None:
        up(config)
        (head,) = machines()
        assert existing.is_head(head)
        assert head["InstanceType"] == "m6i.large"
        assert "InstanceLifecycle" not in head
        assert TAG in head["Tags"]
        assert head["ClientToken"].startswith("overtone/digits/")
        assert head["MetadataOptions"]["HttpTokens"] == "required"
        (asked,) = [request.parameters for request in aws.requests if request.action == "RunInstances"]
        assert asked["InstanceInitiatedShutdownBehavior"] == "terminate"
        assert asked["IamInstanceProfile.Name"] == "overtone-digits-eu-west-1"
        assert asked["BlockDeviceMapping.1.Ebs.DeleteOnTermination"] == "true"
        (volume,) = client("ec2", REGION).describe_volumes()["Volumes"]
        assert volume["Tags"] == [TAG]
        assert kinds(config) == ALL

    @pytest.mark.full
    def test_ssh_is_open_for_one_network_only(self, aws: Aws, config: ClusterConfig) -> None:
        up(config)
        (group,) = client("ec2", REGION).describe_security_groups(GroupNames=["overtone-digits"])[
            "SecurityGroups"
        ]
        rules = {rule["IpProtocol"]: rule for rule in group["IpPermissions"]}
        assert [one["CidrIp"] for one in rules["tcp"]["IpRanges"]] == ["192.0.2.7/32"]
        assert (rules["tcp"]["FromPort"], rules["tcp"]["ToPort"]) == (22, 22)
        assert [one["GroupId"] for one in rules["-1"]["UserIdGroupPairs"]] == [group["GroupId"]]
        assert not rules["-1"]["IpRanges"]

    @pytest.mark.full
    def test_private_key_stays_on_this_machine(self, aws: Aws, config: ClusterConfig) -> None:
        up(config)
        key = State.open(config).folder / "key"
        assert key.stat().st_mode & 0o777 == 0o600
        assert "CreateKeyPair" not in aws.actions()
        assert not any("PRIVATE" in value for one in aws.requests for value in one.parameters.values())

    @pytest.mark.full
    def test_up_again_makes_nothing(self, aws: Aws, config: ClusterConfig) -> None:
        up(config)
        before = provider.find(config)
        aws.requests.clear()
        up(config)
        assert provider.find(config) == before
        assert not [
            action for action in aws.actions() if action.startswith(("Run", "Create", "Import", "Term"))
        ]

    @pytest.mark.full
    def test_workers_are_spot_and_tagged(self, aws: Aws, config: ClusterConfig) -> None:
        assert not launch_workers(up(config), 3)
        workers = [one for one in provider.find(config) if one.node_type == "g5.xlarge"]
        assert workers
        assert all(one.spot and one.dollars for one in workers)  # at the API's price
        assert not [one for one in provider.find(config) if not one.spot and one.dollars is not None]
        asked = [one.parameters for one in aws.requests if one.action == "RunInstances"][-1]
        assert asked["InstanceMarketOptions.MarketType"] == "spot"
        assert (asked["MinCount"], asked["MaxCount"]) == ("1", "3")  # moto starts the fewest that are allowed
        assert "IamInstanceProfile.Name" not in asked

    def test_down_leaves_nothing_of_the_cluster_and_all_else(self, aws: Aws, config: ClusterConfig) -> None:
        ec2, iam = client("ec2", REGION), client("iam", REGION)
        launch_workers(up(config), 2)
        other = written(config.source.parent, CONFIG.replace("digits", "digits-2"))
        up(other)
        untagged = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)["Instances"][0][
            "InstanceId"
        ]
        ec2.create_key_pair(KeyName="mine")
        iam.create_role(RoleName="mine", AssumeRolePolicyDocument="{}")
        ec2.allocate_address()
        own = {one["InstanceId"] for one in machines()}
        assert len(own) == 2  # the head, and of two workers the one that moto starts
        others = provider.find(other)
        down(config)
        assert provider.find(config) == []
        assert provider.find(other) == others
        states = all_machines()
        assert {states.pop(id) for id in own} == {"terminated"}
        assert set(states.values()) == {"running"}
        assert untagged in states
        assert {one["KeyName"] for one in ec2.describe_key_pairs()["KeyPairs"]} == {
            "mine",
            "overtone-digits-2",
        }
        assert {one["RoleName"] for one in iam.list_roles()["Roles"]} == {
            "mine",
            "overtone-digits-2-eu-west-1",
        }
        assert len(ec2.describe_addresses()["Addresses"]) == 1
        assert "StopInstances" not in aws.actions()

    @pytest.mark.full
    def test_down_of_nothing_is_fine(self, aws: Aws, config: ClusterConfig) -> None:
        down(config)
        assert not [one for one in aws.actions() if one.startswith(("Delete", "Terminate", "Remove"))]

    @pytest.mark.full
    def test_down_takes_tagged_leftovers(self, aws: Aws, config: ClusterConfig) -> None:
        ec2 = client("ec2", REGION)
        tagged = [{"ResourceType": "volume", "Tags": [TAG]}]
        ec2.create_volume(AvailabilityZone="eu-west-1a", Size=1, TagSpecifications=tagged)
        ec2.allocate_address(TagSpecifications=[{"ResourceType": "elastic-ip", "Tags": [TAG]}])
        assert kinds(config) == ["volume", "address"]
        down(config)
        assert provider.find(config) == []

    @pytest.mark.full
    def test_many_machines_are_found_over_all_pages(self, aws: Aws, config: ClusterConfig) -> None:
        ec2 = client("ec2", REGION)
        tagged = [{"ResourceType": "instance", "Tags": [TAG]}]
        for _ in range(120):  # moto's pages have 100
            ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, TagSpecifications=tagged)
        assert kinds(config).count("instance") == 120
        down(config)
        assert aws.actions().count("TerminateInstances") == 2
        assert set(all_machines().values()) == {"terminated"}

    @pytest.mark.full
    def test_two_downs_at_once_both_succeed(self, aws: Aws, config: ClusterConfig) -> None:
        up(config)
        errors: list[BaseException] = []

        def one() -> None:
            try:
                down(config)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=one) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert provider.find(config) == []

    @pytest.mark.full
    def test_cluster_of_the_users_own_yaml_is_tagged_and_never_stopped(
        self, aws: Aws, tmp_path: Path
    ) -> None:
        text = """\
            cluster_name: theirs
            max_workers: 2
            provider: {type: aws, region: eu-west-1, cache_stopped_nodes: true}
            auth: {ssh_user: ec2-user}
            available_node_types:
              ray.head: {resources: {}, node_config: {InstanceType: m5.large, ImageId: ami-12c6146b}}
              ray.worker: {resources: {}, max_workers: 2, node_config: {InstanceType: m5.large, ImageId: ami-12c6146b}}
            head_node_type: ray.head
            """
        config = written(tmp_path, textwrap.dedent(text))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(launch, "ssh_network", lambda network: "192.0.2.9/32")
            ray = up(config)
        assert not launch_workers(ray, 1, "ray.worker")
        assert {one["KeyName"] for one in machines("theirs")} == {"overtone-theirs"}
        assert ray["auth"]["ssh_user"] == "ec2-user"
        assert ray["provider"]["cache_stopped_nodes"] is False
        down(config)
        assert set(all_machines().values()) == {"terminated"}

    @pytest.mark.full
    def test_a_new_image_does_not_replace_a_head_that_is_up(self, aws: Aws, config: ClusterConfig) -> None:
        parameter = "/aws/service/ami-amazon-linux-latest/amzn2-ami-hvm-x86_64-gp2"
        config = written(config.source.parent, CONFIG.replace("ami-12c6146b", parameter))
        up(config)
        (head,) = machines()
        assert head["ImageId"].startswith("ami-")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(launch.images, "image_of", lambda ssm, parameter: "ami-0123456789abcdef0")
            up(config)
            assert [one["InstanceId"] for one in machines()] == [head["InstanceId"]]


class TestReading:
    @pytest.mark.full
    def test_documented_permissions_suffice(self, aws: Aws, config: ClusterConfig) -> None:
        parameter = "/aws/service/ami-amazon-linux-latest/amzn2-ami-hvm-x86_64-gp2"
        config = written(config.source.parent, CONFIG.replace("ami-12c6146b", parameter))
        launch_workers(up(config), 1)
        down(config)
        page = (Path(__file__).parents[2] / "docs" / "launcher.md").read_text()
        policy = json.loads(page.partition("```json\n")[2].partition("```")[0])
        allowed = [action for one in policy["Statement"] for action in one["Action"]]
        names = {action.partition(":")[2] for action in allowed}
        used = {action for action in aws.actions() if not action.startswith("Describe")}
        assert "GetParameter" in used
        assert used <= names

    @pytest.mark.full
    def test_find_only_reads(self, aws: Aws, config: ClusterConfig) -> None:
        up(config)
        aws.requests.clear()
        provider.check(config)
        provider.find(config)
        assert aws.actions()
        assert all(action.startswith(("Describe", "Get", "List")) for action in aws.actions())

    @pytest.mark.full
    def test_clusters_of_the_region(self, aws: Aws, config: ClusterConfig) -> None:
        assert clusters(REGION) == []
        up(config)
        assert clusters(REGION) == ["digits"]

    @pytest.mark.full
    def test_reach(self, aws: Aws, config: ClusterConfig) -> None:
        state = State.open(config)
        with pytest.raises(CloudError, match="has no head in eu-west-1: start it by `overtone up`"):
            provider.reach(config, state)
        up(config)
        (head,) = machines()
        assert provider.reach(config, state).name == f"ubuntu@{head['PublicIpAddress']}"

    @pytest.mark.full
    def test_no_secret_is_kept(self, aws: Aws, config: ClusterConfig) -> None:
        up(config)
        for file in State.open(config).folder.rglob("*"):
            assert b"secret-of-the-test" not in file.read_bytes()

    @pytest.mark.full
    def test_head_ends_the_cluster(self, aws: Aws, config: ClusterConfig) -> None:
        launch_workers(up(config), 1)
        aws.requests.clear()
        end_from_head(region=REGION, name="digits")
        ended = [one.parameters["InstanceId.1"] for one in aws.requests if one.action == "TerminateInstances"]
        assert len(ended) == 2
        assert set(all_machines().values()) == {"terminated"}

    @pytest.mark.full
    def test_head_ends_itself_also_if_a_worker_is_refused(self, aws: Aws, config: ClusterConfig) -> None:
        launch_workers(up(config), 1)
        (head,) = [one["InstanceId"] for one in machines() if existing.is_head(one)]
        refused = Fault(
            "TerminateInstances", "UnauthorizedOperation", applies=lambda one: one["InstanceId.1"] != head
        )
        aws.faults += [refused]
        with pytest.raises(CloudError, match="UnauthorizedOperation"):
            end_from_head(region=REGION, name="digits")
        assert all_machines()[head] == "terminated"


class TestCheck:
    @pytest.mark.parametrize(
        ("before", "after", "message"),
        [
            ("eu-west-1,", "Ireland,", ":2: provider.region='Ireland': must be a region of AWS"),
            ("g5.xlarge", "xlarge", ":4: workers.type='xlarge': must be a machine type of AWS"),
            ("192.0.2.7/32", "here", ":2: provider.ssh_from='here': must be a network in CIDR form"),
            ("ami-12c6146b", "ubuntu", ":2: provider.image='ubuntu': must be an image"),
        ],
    )
    def test_broken_configs_name_their_line(
        self, tmp_path: Path, before: str, after: str, message: str
    ) -> None:
        config = written(tmp_path, CONFIG.replace(before, after))
        with pytest.raises(ConfigError) as caught:
            provider.check(config)
        assert f"cluster.yaml{message}" in str(caught.value)

    def test_credentials_in_a_config_are_refused(self, tmp_path: Path) -> None:
        text = CONFIG + "raw: {provider: {aws_credentials: {aws_secret_access_key: hidden}}}\n"
        with pytest.raises(ConfigError, match="credentials do not belong in a config") as caught:
            provider.check(written(tmp_path, text))
        assert "hidden" not in str(caught.value)
