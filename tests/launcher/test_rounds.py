"""The rounds on hosts that CI has, too: a submit as in the article, and a killed command. One after the other."""

from __future__ import annotations

import shutil
import signal

import pytest

pytest.importorskip("ray")

from ray._private.utils import get_num_cpus

from tests.launcher.ssh_hosts import HOME, Network, until
from tests.launcher.test_submit import remove_traces, start_run, trials, write_project


def test_a_submitted_script_runs_on_all_hosts_and_leaves_nothing(three_hosts: Network) -> None:
    remove_traces(three_hosts)
    write_project(three_hosts)
    # A trial takes a host, and is held: three of them are on three hosts, however fast any of these is.
    arguments = ("--trials", "6", "--cpu", str(int(get_num_cpus())), "--wait-for", "/tmp/go")
    command = start_run(three_hosts, *arguments, options=("--start", "--stop"))
    command.wait_for(f"the script begins {list(arguments)}")
    until(lambda: all(host.path("/tmp/held").exists() for host in three_hosts.hosts), "a trial on each host")
    for host in three_hosts.hosts:
        host.check("touch", "/tmp/go")
    assert command.wait() == 7, command.printed
    assert "nothing is left" in command.printed.splitlines()[-1]
    assert f"results: {HOME}/overtone_results/counting" in command.printed.splitlines()[-1]
    found = trials(three_hosts)
    assert [one[:2] for one in found] == [("TERMINATED", 4)] * 6
    assert {one.host for one in found} == {"host1", "host2", "host3"}
    assert three_hosts.overtone("verify", "counting").returncode == 0
    assert three_hosts.left() == {}


def test_after_kill_9_clusters_shows_it_and_down_takes_it(three_hosts: Network) -> None:
    shutil.rmtree(three_hosts.hosts[0].home(".overtone/cluster/runs"), ignore_errors=True)  # of the round before
    three_hosts.write_config("own.yaml", name="own")
    command = three_hosts.begin("up", "own.yaml")
    command.wait_for("start workers:")
    command.signal(signal.SIGKILL)
    command.wait()
    assert "starting (interrupted)" in three_hosts.overtone("clusters").stdout
    assert three_hosts.overtone("down", "own").returncode == 0
    assert three_hosts.left() == {}
    assert three_hosts.files_left() == []
