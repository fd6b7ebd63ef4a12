"""Hosts that refuse, fail and die, and commands that are interrupted or killed: each leaves nothing behind."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import sys

import pytest

from tests.launcher.ssh_hosts import HOME, PROFILE, Command, Network, network, read_until, until


@pytest.mark.full
@pytest.mark.parametrize(
    ("at", "setup"),
    [("check 3 hosts", "true"), ("sleep 1000", "sleep 1000; touch ~/went-on"), ("start head:", "true"), ("start workers:", "true")],
    ids=["check", "set up", "start head", "start workers"],
)
def test_ctrl_c_takes_down_what_was_started(three_hosts: Network, at: str, setup: str) -> None:
    three_hosts.write_config("own.yaml", name="own", setup=setup)
    command = three_hosts.begin("up", "own.yaml")
    command.wait_for(at)
    command.signal(signal.SIGINT)
    assert command.wait() == 130, command.printed
    assert three_hosts.left() == {}
    assert three_hosts.files_left() == []
    assert not any(host.home("went-on").exists() for host in three_hosts.hosts)


@pytest.mark.full
@pytest.mark.parametrize("starts", [True, False], ids=["an interrupted up", "down"])
def test_ctrl_c_while_a_cluster_is_taken_down_first_says_what_goes_on(three_hosts: Network, starts: bool) -> None:
    three_hosts.write_config("own.yaml", name="own", workers={"min": 0})
    if starts:
        command = three_hosts.begin("up", "own.yaml")
        command.wait_for("start head:")
        command.signal(signal.SIGINT)
    else:
        assert three_hosts.overtone("up", "own.yaml").returncode == 0
        command = three_hosts.begin("down", "own.yaml")
    command.wait_for("take down: own ...")
    command.signal(signal.SIGINT)
    assert command.wait() == (130 if starts else 0), command.printed
    assert command.printed.count("taking the cluster down; press Ctrl-C again to leave it as it is") == 1
    assert three_hosts.left() == {}
    assert three_hosts.files_left() == []


@pytest.mark.full
def test_a_second_ctrl_c_leaves_a_cluster_that_is_taken_down_as_it_is(three_hosts: Network) -> None:
    three_hosts.write_config("own.yaml", name="own", workers={"min": 0})
    assert three_hosts.overtone("up", "own.yaml").returncode == 0
    command = three_hosts.begin("down", "own.yaml")
    command.wait_for("take down: own ...")
    command.signal(signal.SIGINT)
    command.wait_for("press Ctrl-C again")
    command.signal(signal.SIGINT)
    assert command.wait() == 130
    assert "something of own may be left, and may cost: overtone down own.yaml" in command.printed
    assert three_hosts.overtone("down", "own").returncode == 0
    assert three_hosts.left() == {}
    assert three_hosts.files_left() == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("phase", "state"),
    [("set up", "starting (interrupted)"), ("start head", "starting (interrupted)"), ("upload", "up"), ("run", "up"),
     ("bring back", "up"), ("take down", "taking down (interrupted)")],
    ids=["set up", "start head", "upload", "run", "bring back", "take down"],
)  # fmt: skip
def test_after_kill_9_of_a_submit_clusters_shows_it_and_down_takes_it(
    three_hosts: Network, phase: str, state: str
) -> None:
    provider = {"type": "local", "hosts": ["10.0.0.1"], "user": "root"}
    three_hosts.write_config("own.yaml", name="own", provider=provider, files=".")
    three_hosts.client.path(three_hosts.project / "script.py").write_text("print('it runs')")
    command = three_hosts.begin("submit", "own.yaml", "script.py")
    command.wait_for(f"overtone: {phase}")
    command.signal(signal.SIGKILL)
    command.wait()
    (line,) = [one for one in three_hosts.overtone("clusters").stdout.splitlines() if one.startswith("own ")]
    assert state in line
    assert three_hosts.overtone("down", "own").returncode == 0
    assert three_hosts.left() == {}
    shutil.rmtree(three_hosts.hosts[0].home(".overtone/cluster/runs"), ignore_errors=True)  # logs, which stay
    assert three_hosts.files_left() == []


@pytest.mark.full
def test_on_a_terminal_ctrl_c_asks_and_what_stays_is_listed(three_hosts: Network) -> None:
    three_hosts.write_config("own.yaml", name="own", setup="sleep 1000")
    ours, theirs = pty.openpty()
    command = three_hosts.begin("up", "own.yaml", stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    until(lambda: "sleep 1000" in str(three_hosts.left()), "the setup runs")
    command.signal(signal.SIGINT)
    read_until(ours, b"without an answer] ")
    os.write(ours, b"n\n")
    read_until(ours, b"stays and may cost")
    assert command.wait() == 130
    os.close(ours)
    assert "starting (interrupted)" in three_hosts.overtone("clusters").stdout
    assert three_hosts.overtone("down", "own").returncode == 0
    assert three_hosts.left() == {}


SOON = """
import sys
from overtone.cluster import apply
from overtone.cli import main
apply.ANSWER_S = 3.0
sys.exit(main(sys.argv[1:]))
"""
"""The command whose question has a shorter limit."""


@pytest.mark.full
def test_a_question_that_nobody_answers_leaves_nothing_that_runs(three_hosts: Network) -> None:
    three_hosts.write_config("own.yaml", name="own", setup="sleep 1000")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", SOON, "up", "own.yaml"]
    screen = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    command = Command(three_hosts.client.begin(*words, folder=three_hosts.project, **screen))
    os.close(theirs)
    until(lambda: "sleep 1000" in str(three_hosts.left()), "the setup runs")
    command.signal(signal.SIGINT)
    read_until(ours, b"take down what was started of own? [Y/n; yes after 3 s without an answer] ")
    os.write(ours, b"never\n")
    assert b"overtone: answer y or n\r\n" in read_until(ours, b"overtone: no answer within 3 s: yes\r\n")
    assert command.wait() == 130
    os.close(ours)
    assert three_hosts.left() == {}
    assert three_hosts.files_left() == []
    assert "down" in three_hosts.overtone("clusters").stdout


@pytest.mark.full
@pytest.mark.parametrize("words", [("up", "own.yaml"), ("submit", "own.yaml", "script.py")], ids=["up", "submit"])
def test_a_disk_that_is_full_here_leaves_nothing_on_the_hosts_and_says_so(
    three_hosts: Network, words: tuple[str, ...]
) -> None:
    client = three_hosts.client
    setup = "touch ~/in-setup; while [ ! -e ~/go ]; do sleep 0.1; done"
    provider = {"type": "local", "hosts": ["10.0.0.1"], "user": "root"}
    three_hosts.write_config("own.yaml", name="own", setup=setup, provider=provider)
    client.path(three_hosts.project / "script.py").write_text("print('it runs')")
    client.check("mkdir", "-p", f"{HOME}/.overtone")
    client.check("mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", f"{HOME}/.overtone")
    command = three_hosts.begin(*words)
    until(lambda: three_hosts.hosts[0].home("in-setup").exists(), "the setup")
    client.run("dd", "if=/dev/zero", f"of={HOME}/.overtone/full", "bs=512")
    three_hosts.hosts[0].check("touch", f"{HOME}/go")
    assert command.wait() == 1
    client.check("umount", "-l", f"{HOME}/.overtone")
    for name in ("go", "in-setup"):
        three_hosts.hosts[0].home(name).unlink()
    assert "the disk of this machine is full. Make room, and run the command again" in command.printed
    assert "it runs" not in command.printed
    assert three_hosts.left() == {}
    assert three_hosts.files_left() == []


@pytest.mark.full
def test_a_host_with_another_key_than_before_is_refused_and_both_places_are_named(three_hosts: Network) -> None:
    three_hosts.write_config("own.yaml", name="own")
    assert three_hosts.overtone("down", "own.yaml").returncode == 0
    host = three_hosts.hosts[1]
    host.stop_ssh()
    host.check("mv", "/etc/ssh/host_key", "/etc/ssh/host_key.before")
    host.serve_ssh(three_hosts.public_key)
    done = three_hosts.overtone("up", "own.yaml")
    assert done.returncode == 1
    assert "root@10.0.0.2: its ED25519 host key is another one than before. It is now SHA256:" in done.stdout
    known = f"{HOME}/.overtone/clusters/own/known_hosts"
    lines = three_hosts.client.path(known).read_text().splitlines()
    (number,) = [at for at, line in enumerate(lines, 1) if line.startswith("10.0.0.2 ")]
    assert f"delete line {number} of {known}" in done.stdout
    assert three_hosts.left() == {}
    host.stop_ssh()
    host.check("mv", "/etc/ssh/host_key.before", "/etc/ssh/host_key")
    host.serve_ssh(three_hosts.public_key)


@pytest.mark.full
def test_a_user_without_rights_has_a_cluster_and_leaves_nothing() -> None:
    with network(2) as net:
        homes = [host.path(host.add_user("ann", net.public_key)) for host in net.hosts]
        provider = {"type": "local", "hosts": [host.address for host in net.hosts], "user": "ann"}
        net.write_config("own.yaml", name="own", provider=provider)
        up = net.overtone("up", "own.yaml")
        assert up.returncode == 0, up.stdout
        owners = {host.name: host.check("ps", "-eo", "user=,args=") for host in net.hosts}
        for lines in owners.values():
            assert [line.split()[0] for line in lines.splitlines() if "/raylet/raylet " in line] == ["ann"]
        shown = net.overtone("exec", "own.yaml", "id -un; ray status >/dev/null && echo answers")
        assert shown.stdout.split() == ["ann", "answers"]
        down = net.overtone("down", "own.yaml")
        assert down.returncode == 0, down.stdout
        assert net.left() == {}
        for home in homes:
            assert not list((home / ".overtone/cluster").glob("*"))
            assert (home / ".ssh/authorized_keys").read_text() == net.public_key


@pytest.mark.full
def test_a_login_that_is_slow_and_prints_is_no_output_and_a_shell_that_always_prints_is_named() -> None:
    noise = "echo welcome; head -c 1000000 /dev/zero | tr '\\0' x; head -c 100000 /dev/zero | tr '\\0' y >&2; sleep 2\n"
    with network(1) as net:
        (host,) = net.hosts
        net.write_config()
        host.home(".bashrc").write_text(noise)
        refused = net.overtone("up", "c.yaml")
        assert refused.returncode == 1
        assert "10.0.0.1: its shell prints 'welcome\\nxxx" in refused.stdout
        assert len(refused.stdout) < 2000
        host.home(".bashrc").write_text("[[ $- == *i* ]] || return\n" + noise)
        host.home(".profile").write_text(noise + PROFILE)
        up = net.overtone("up", "c.yaml")
        assert up.returncode == 0, up.stdout[-3000:]
        assert net.overtone("exec", "c.yaml", "hostname").stdout == "host1\n"
        assert net.overtone("down", "c.yaml").returncode == 0
        assert net.left() == {}


@pytest.mark.full
def test_setup_that_fails_shows_its_last_lines_and_nothing_is_left(three_hosts: Network) -> None:
    three_hosts.write_config("own.yaml", name="own", setup="for i in $(seq 50); do echo line $i; done; exit 3")
    done = three_hosts.overtone("up", "own.yaml")
    assert done.returncode == 1
    assert "root@10.0.0.1, root@10.0.0.2, root@10.0.0.3: setup `for i" in done.stdout
    assert "ended with 3; its last lines:\n  line 31\n" in done.stdout
    assert "line 30" not in done.stdout
    assert three_hosts.left() == {}
    assert three_hosts.files_left() == []


@pytest.mark.full
def test_another_cluster_on_a_host_is_neither_joined_nor_ended(three_hosts: Network) -> None:
    three_hosts.write_config("own.yaml", name="own", workers={"min": 0})
    other = three_hosts.hosts[0].begin("env", "OVERTONE_CLUSTER=other", "sleep", "999")
    done = three_hosts.overtone("up", "own.yaml")
    assert done.returncode == 1
    assert "10.0.0.1: belongs to the cluster other" in done.stdout
    assert three_hosts.left() == {"host1": ["sleep 999"]}
    for pid in three_hosts.hosts[0].processes():
        three_hosts.hosts[0].check("kill", str(pid))
    other.communicate()


@pytest.mark.full
def test_hosts_that_refuse_and_that_never_answer_are_named(three_hosts: Network) -> None:
    hosts = {"hosts": ["10.0.0.1", "10.0.0.77", "10.0.0.9"], "user": "root", "type": "local"}
    three_hosts.write_config("own.yaml", name="own", provider=hosts)
    mute = three_hosts.client.begin("python", "-c", "import socket; s = socket.create_server(('', 22)); input()", stdin=-1)
    done = three_hosts.overtone("up", "own.yaml")
    three_hosts.client.check("pkill", "-f", "create_server")
    mute.communicate()
    assert done.returncode == 1
    assert "root@10.0.0.77: " in done.stdout
    assert "root@10.0.0.9: no answer within 10 s" in done.stdout
    assert "Try: ssh root@10.0.0.9" in done.stdout
    assert three_hosts.left() == {}


@pytest.mark.full
def test_a_host_that_dies_in_mid_run_is_named(three_hosts: Network) -> None:
    three_hosts.write_config("own.yaml", name="own")
    command = three_hosts.begin("up", "own.yaml")
    command.wait_for("start workers:")
    three_hosts.hosts[2].kill()
    assert command.wait() == 1
    assert "root@10.0.0.3: " in command.printed
    del three_hosts.hosts[2]
    assert three_hosts.left() == {}
    done = three_hosts.overtone("down", "own")
    assert done.returncode == 1
    assert "host 10.0.0.3: root@10.0.0.3: " in done.stdout
    assert "own.yaml` again, with --gone 10.0.0.3 if that is gone for good" in done.stdout
    wrong = three_hosts.overtone("down", "own", "--gone", "10.0.0.4")
    assert "10.0.0.4: not a host of own" in wrong.stdout
    assert three_hosts.overtone("down", "own", "--gone", "10.0.0.3").returncode == 0
    assert "10.0.0.1" not in three_hosts.overtone("clusters").stdout


@pytest.mark.full
@pytest.mark.parametrize("names", [("aa", "bb"), ("aa", "aa")], ids=["two names", "one name"])
def test_of_two_clusters_that_begin_at_once_on_a_host_one_has_it(names: tuple[str, str]) -> None:
    """The other is refused, and its end takes nothing from the first; each has a machine, or a home, of its own."""
    with network(1) as net:
        homes = [{"env": {"OVERTONE_HOME": str(net.project / f"home{i}")}} for i in range(2)]
        for name in names:
            net.write_config(f"{name}.yaml", name=name, workers={"min": 0})
        begun = [net.begin("up", f"{name}.yaml", **home) for name, home in zip(names, homes, strict=True)]
        ends = [command.wait() for command in begun]
        said = [command.printed for command in begun]
        assert sorted(ends) in ([0, 1], [0, 2]), said
        winner, loser = sorted(range(2), key=lambda i: ends[i])
        other = f"belongs to the cluster {names[winner]}"
        assert (other if len(set(names)) == 2 else "another machine has begun to start a cluster aa") in said[loser]
        host = net.hosts[0]
        assert json.loads(host.home(".overtone/cluster/claim.json").read_text())["name"] == names[winner]
        answers = "ray status >/dev/null && echo answers"
        asked = net.overtone("exec", f"{names[winner]}.yaml", answers, **homes[winner])
        assert asked.stdout.startswith("answers\n"), asked.stdout
        assert net.overtone("down", f"{names[loser]}.yaml", **homes[loser]).returncode == 0
        assert "raylet" in " ".join(host.processes().values())
        assert net.overtone("down", f"{names[winner]}.yaml", **homes[winner]).returncode == 0
        assert net.left() == {}
        assert net.files_left() == []
