"""AWS: refused requests, shortages and crashes, against moto's server: nothing is left, and others' things stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

pytest.importorskip("moto")
pytest.importorskip("ray")

from overtone.cluster.aws import existing
from overtone.cluster.aws.node_provider import SPOT_WAIT_KEY
from overtone.cluster.aws.session import client
from overtone.cluster.cloud_errors import CloudError
from overtone.cluster.config import ClusterConfig
from overtone.cluster.progress import Progress
from overtone.cluster.providers import aws as provider
from overtone.cluster.state import State
from tests.launcher.aws_lab import (
    ALL,
    CONFIG,
    MARKS,
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
from tests.launcher.ssh_hosts import LONG_S

pytestmark = MARKS


@pytest.fixture
def aws(aws_of_all: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Aws:
    return empty_account(aws_of_all, tmp_path, monkeypatch)


@pytest.fixture
def config(tmp_path: Path) -> ClusterConfig:
    return written(tmp_path, CONFIG)


class TestFaults:
    @pytest.mark.full
    def test_throttled_requests_are_repeated(self, aws: Aws, config: ClusterConfig) -> None:
        aws.faults += [Fault("RunInstances", "RequestLimitExceeded", 6)]  # Ray itself gives up after five
        aws.faults += [Fault("DescribeKeyPairs", "RequestLimitExceeded", 1)]
        up(config)
        assert aws.actions().count("RunInstances") == 7
        down(config)
        assert provider.find(config) == []

    def test_no_spot_machines_lead_to_machines_on_demand(self, aws: Aws, config: ClusterConfig) -> None:
        def is_spot(parameters: dict[str, str]) -> bool:
            return "InstanceMarketOptions.MarketType" in parameters

        aws.faults += [Fault("RunInstances", "InsufficientInstanceCapacity", applies=is_spot)]
        ray = up(config)
        (error,) = launch_workers(ray, 1)
        assert error.category == "InsufficientInstanceCapacity"  # the autoscaler asks again: ten minutes long
        assert len(machines()) == 1
        ray["provider"][SPOT_WAIT_KEY] = 0  # as if they had passed
        assert launch_workers(ray, 1) == []
        (worker,) = [one for one in provider.find(config) if one.node_type == "g5.xlarge"]
        assert not worker.spot
        aws.faults.clear()
        assert launch_workers(ray, 1) == []
        assert {one.spot for one in provider.find(config) if one.node_type == "g5.xlarge"} == {True, False}

    @pytest.mark.full
    def test_other_zones_are_tried(self, aws: Aws, config: ClusterConfig) -> None:
        ray = up(config)
        first = ray["available_node_types"]["worker"]["node_config"]["SubnetIds"][0]
        no_capacity = Fault(
            "RunInstances", "InsufficientInstanceCapacity", applies=lambda one: one["SubnetId"] == first
        )
        aws.faults += [no_capacity]
        assert launch_workers(ray, 1) == []
        assert len(machines()) == 2

    @pytest.mark.full
    def test_other_errors_are_not_taken_for_a_shortage(self, aws: Aws, config: ClusterConfig) -> None:
        ray = up(config, **{SPOT_WAIT_KEY: 0})
        aws.faults += [Fault("RunInstances", "InvalidAMIID.NotFound")]
        (error,) = launch_workers(ray, 1)
        assert error.category == "InvalidAMIID.NotFound"

    def test_down_that_cannot_finish_names_what_is_left(
        self, aws: Aws, config: ClusterConfig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        up(config)
        (head,) = machines()
        aws.faults += [Fault("TerminateInstances", "OperationNotPermitted")]
        with pytest.raises(CloudError, match=f"instance {head['InstanceId']}") as caught:
            down(config)
        assert "OperationNotPermitted" in str(caught.value)
        assert [one.id for one in caught.value.left] == [head["InstanceId"]]

    @pytest.mark.full
    def test_what_cannot_be_deleted_does_not_keep_the_rest(self, aws: Aws, config: ClusterConfig) -> None:
        up(config)
        aws.faults += [Fault("DeleteRole", "AccessDenied")]
        with pytest.raises(CloudError, match="role overtone-digits-eu-west-1") as caught:
            down(config)
        assert "AccessDenied" in str(caught.value)
        assert kinds(config) == ["role"]
        aws.faults.clear()
        down(config)
        assert provider.find(config) == []

    @pytest.mark.full
    def test_a_group_in_use_is_tried_again(self, aws: Aws, config: ClusterConfig) -> None:
        up(config)
        aws.faults += [Fault("DeleteSecurityGroup", "DependencyViolation", 1)]
        down(config)
        assert provider.find(config) == []
        assert aws.actions().count("DeleteSecurityGroup") == 2

    @pytest.mark.full
    def test_credentials_that_expire_during_down(self, aws: Aws, config: ClusterConfig) -> None:
        up(config)
        (head,) = machines()
        aws.faults += [Fault("TerminateInstances", "ExpiredToken")]
        with pytest.raises(CloudError, match="expired or are wrong") as caught:
            down(config)
        assert "repeat the command" in str(caught.value)
        assert head["InstanceId"] in {one.id for one in caught.value.left}

    def test_a_wrong_clock_of_this_machine_is_named(self, aws: Aws, config: ClusterConfig) -> None:
        aws.faults += [Fault("DescribeInstances", "RequestExpired")]
        with pytest.raises(
            CloudError, match=r"this machine's clock is, which says 2\d{3}-\d\d-\d\d \d\d:\d\d UTC"
        ):
            provider.find(config)

    def test_missing_credentials(
        self, aws: Aws, config: ClusterConfig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(key)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        with pytest.raises(CloudError, match="credentials are missing: run `aws configure`"):
            provider.find(config)

    @pytest.mark.full
    def test_names_of_others_are_left_alone(self, aws: Aws, config: ClusterConfig) -> None:
        ec2, iam = client("ec2", REGION), client("iam", REGION)
        ec2.create_key_pair(KeyName="overtone-digits")
        iam.create_role(RoleName="overtone-digits-eu-west-1", AssumeRolePolicyDocument="{}")
        with pytest.raises(CloudError, match="may be somebody else's"):
            up(config)
        assert kinds(config) == []
        down(config)
        assert len(ec2.describe_key_pairs()["KeyPairs"]) == len(iam.list_roles()["Roles"]) == 1

    @pytest.mark.full
    def test_cluster_of_another_machine_is_not_taken_over(
        self, aws: Aws, config: ClusterConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        up(config)
        monkeypatch.setenv("OVERTONE_HOME", str(tmp_path / "elsewhere"))
        with pytest.raises(CloudError, match="runs already, with a key that this machine does not have"):
            up(config)
        assert kinds(config) == ALL


DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.launcher.aws_lab import read_config, up
up(read_config(Path(sys.argv[2])))
"""


class TestCrashes:
    """A process dies in the middle of a start; `down` of another one ends all of it."""

    def start_in_process(self, config: ClusterConfig) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", DRIVER, str(Path(__file__).parents[2]), str(config.source)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def check_signal_ended(self, child: subprocess.Popen[str], sent: signal.Signals) -> None:
        _, said = child.communicate(timeout=LONG_S)
        if sent == signal.SIGINT:
            assert said.splitlines()[-1].startswith("overtone: interrupted at "), said
        else:
            assert child.returncode == -sent, said

    def test_killed_between_creating_and_tagging(self, aws: Aws, config: ClusterConfig) -> None:
        def without_tags(parameters: dict[str, str]) -> dict[str, str]:
            return {key: value for key, value in parameters.items() if not key.startswith("TagSpec")}

        child: list[subprocess.Popen[str]] = []
        kill = Fault("RunInstances", change=without_tags, after=lambda: child[0].send_signal(signal.SIGKILL))
        aws.faults += [kill]
        child.append(self.start_in_process(config))
        self.check_signal_ended(child[0], signal.SIGKILL)
        aws.faults.clear()
        (id,) = all_machines()
        (head,) = machines()
        assert "Tags" not in head
        assert head["ClientToken"].startswith("overtone/digits/")
        assert machines("digit") == []
        down(config)
        assert provider.find(config) == []
        assert all_machines() == {id: "terminated"}

    @pytest.mark.full
    @pytest.mark.parametrize("action", ["ImportKeyPair", "CreateSecurityGroup", "CreateRole", "RunInstances"])
    def test_interrupted_or_killed_in_mid_start(self, aws: Aws, config: ClusterConfig, action: str) -> None:
        sent = signal.SIGKILL if action in ("ImportKeyPair", "CreateRole") else signal.SIGINT
        child: list[subprocess.Popen[str]] = []
        aws.faults += [Fault(action, times=1, after=lambda: child[0].send_signal(sent))]
        child.append(self.start_in_process(config))
        self.check_signal_ended(child[0], sent)
        aws.faults.clear()
        assert kinds(config)
        up(config)  # a new start goes on from there
        assert kinds(config) == ALL
        down(config)
        assert provider.find(config) == []


def processes_with(variable: str, value: str) -> list[psutil.Process]:
    """Return the other processes that have inherited a variable."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get(variable) == value:
                found.append(process)
    return found


START = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.launcher.aws_lab import Progress, State, provider, read_config
config = read_config(Path(sys.argv[2]))
provider.start(config, State.open(config), Progress(is_quiet=True), False)
"""


@pytest.mark.full
class TestStart:
    """The whole of `start`, with Ray's launcher in a process of its own: only ssh and rsync do nothing."""

    def test_start_sets_the_head_up_once(
        self, aws: Aws, config: ClusterConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        programs, log = tmp_path / "bin", tmp_path / "ssh.log"
        programs.mkdir()
        for name in ("ssh", "rsync"):
            (programs / name).write_text(f'#!/bin/sh\necho "$@" | tr "\\n" " " >> {log}; echo >> {log}\n')
            (programs / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        state, progress = State.open(config), Progress(is_quiet=True)
        provider.start(config, state, progress, False)
        (head,) = machines()
        assert existing.is_set_up(head)
        assert log.read_text().count("ray start --head") == 1
        assert state.token() not in log.read_text()
        assert state.token() not in (state.folder / "ray.yaml").read_text()
        aws.requests.clear()
        provider.start(config, state, progress, False)
        assert [one["InstanceId"] for one in machines()] == [head["InstanceId"]]
        assert log.read_text().count("ray start --head") == 1  # a run on it goes on
        assert not {"RunInstances", "TerminateInstances"} & set(aws.actions())
        down(config)
        assert provider.find(config) == []

    def test_a_killed_start_does_not_go_on_asking_for_a_head(
        self, aws: Aws, config: ClusterConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        child: list[subprocess.Popen[bytes]] = []

        def kill(parameters: dict[str, str]) -> bool:
            child[0].kill()
            return True

        aws.faults += [Fault("RunInstances", "RequestLimitExceeded", applies=kill)]
        command = [sys.executable, "-c", START, str(Path(__file__).parents[2]), str(config.source)]
        child.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        assert child[0].wait(LONG_S) == -signal.SIGKILL
        deadline = time.monotonic() + LONG_S
        while left := processes_with("OVERTONE_HOME", os.environ["OVERTONE_HOME"]):
            assert time.monotonic() < deadline, left
            time.sleep(0.05)
        assert all_machines() == {}
