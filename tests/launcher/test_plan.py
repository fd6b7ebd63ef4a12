"""`overtone plan` of real hosts: it asks them, and changes nothing there or here."""

from __future__ import annotations

import json

import pytest

from tests.launcher.ssh_hosts import HOME, Network


def files(net: Network) -> dict[str, list[str]]:
    return {
        host.name: sorted(str(path.relative_to(host.path(HOME))) for path in host.path(HOME).rglob("*"))
        for host in (net.client, *net.hosts)
    }


@pytest.mark.full
def test_a_plan_of_hosts_changes_nothing_on_them(three_hosts: Network) -> None:
    config = three_hosts.write_config("planned.yaml")
    before = files(three_hosts)
    done = three_hosts.overtone("plan", str(config), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["existing"] == []
    assert [step["action"] for step in document["steps"]][:2] == ["start", "start"]
    assert files(three_hosts) == before
    assert not any(three_hosts.left().values())
