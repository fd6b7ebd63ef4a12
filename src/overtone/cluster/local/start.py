"""Starts a cluster of hosts: checks all, sets them up, starts Ray on the head and on the workers.

Workers above `workers.min` are left to Ray's autoscaler on the head, which also starts a lost one again.
Each step asks the hosts what is there: a repeated start changes nothing, and one after a kill goes on.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from shlex import quote

from overtone.cluster.config import ClusterConfig
from overtone.cluster.head_python import python_command
from overtone.cluster.local import autoscaler_form as form
from overtone.cluster.local.claims import end_options, is_anothers, lives
from overtone.cluster.local.host_checks import check_facts
from overtone.cluster.local.host_facts import HostFacts
from overtone.cluster.local.host_record import AUTOSCALER, FOLDER, KEY, KNOWN_HOSTS, SETUP_S, key_line
from overtone.cluster.local.hosts import Hosts
from overtone.cluster.local.node_record import node_type
from overtone.cluster.local.setup_commands import setup_commands, setup_files
from overtone.cluster.progress import Progress
from overtone.cluster.remote import RemoteError, UnreachableError, home_path, last_lines
from overtone.cluster.run_folder import TEMPORARY
from overtone.cluster.ssh_remote import SSHRemote
from overtone.cluster.state import State
from overtone.cluster.tokens import ON_NODE, install_command, replace_token

RAY_START_S = 300.0
STARTING_S = 900.0
"""Seconds until a cluster whose start was killed counts as idle."""
RAY_STARTS = 4
"""Number of times that Ray is started on a host that is too busy for it."""
_TOO_SLOW = b"timed out during startup"
JOIN_S = 90.0
"""Seconds in which a worker that the autoscaler starts must join."""

_LOGS = f'"$(cat {FOLDER}/{TEMPORARY} || echo /tmp)"/ray/session_latest/logs'
"""The folder of Ray's logs on the head, for a shell."""

_TRACEBACK = re.compile(rb"Traceback \(most recent call last\):\r?\n(?:[ \t].*\n)+")
"""Python's lines before an exception."""

Facts = Mapping[str, HostFacts]


def start(config: ClusterConfig, hosts: Hosts, state: State, progress: Progress) -> None:
    """Start the cluster, or what is missing of it."""
    with progress.phase(f"check {len(hosts.addresses)} hosts"):
        facts: Facts = hosts.each(lambda address, _: hosts.facts(address, "--resources"))
        check_facts(config, facts, {address: hosts[address].noise for address in facts})
        is_up = _adopt(config, facts, hosts, state)
        if not is_up:
            _check_nobody_starts_it(config, facts, state)
            facts = _end_leftovers(config, facts, hosts)
            _end_on_lost_hosts(hosts, state, progress)
        touched = [*hosts.addresses, *(state.info().get("touched") or ())]
        state.update(touched=list(dict.fromkeys(touched)))  # before anything changes there
    with progress.phase("set up"):
        _claim(config, facts, hosts, state)
        _set_up(config, facts, hosts, state, progress)
    if is_up:
        _put_autoscaler(config, facts, hosts, config.workers.min)
    else:
        with progress.phase("start head", hosts.head):
            _start_head(config, facts, hosts, state)
    wanted = hosts.addresses[1 : 1 + config.workers.min]
    if any(not is_up or not facts[address].runs("raylet") for address in wanted):
        with progress.phase("start workers", ", ".join(wanted)):
            if not is_up:
                _start_workers(config, facts, hosts, wanted, progress)
                _put_autoscaler(config, facts, hosts, config.workers.min)
            else:
                _wait_for_workers(hosts, wanted)
    if not is_up:
        _watch(config, hosts, state)


# the parts, in their order


def _adopt(config: ClusterConfig, facts: Facts, hosts: Hosts, state: State) -> bool:
    """Return whether the cluster is up. One that was started from elsewhere becomes this machine's, too.

    Its token does as well: Ray's processes have it in their memory, and would refuse a new one.
    """
    head = facts[config.hosts[0]]
    claim = head.claim or {}
    is_up = head.runs("gcs_server") and head.runs("raylet") and bool(claim)
    if is_up and claim.get("id") != state.info().get("id"):
        replace_token(state.folder / "token", hosts[hosts.head].check(f"cat {ON_NODE}"))
        state.update(id=claim["id"], began=claim.get("began"))
    return is_up


def _check_nobody_starts_it(config: ClusterConfig, facts: Facts, state: State) -> None:
    """Check that no other machine is starting a cluster of this name on these hosts.

    Raises:
        RemoteError: One is, or its command was killed.
    """
    known = lives(state)
    theirs = [address for address, one in facts.items() if is_anothers(one, known)]
    if theirs:
        raise RemoteError(f"{', '.join(theirs)}: {_started_elsewhere(config)}")


def _started_elsewhere(config: ClusterConfig) -> str:
    return (
        f"another machine has begun to start a cluster {config.name} here; wait until it is up, and run this "
        f"again to use it. If that command was killed, run overtone down {config.name} on that machine, or "
        f"wait until {SETUP_S / 60:.0f} min after it began"
    )


def _end_leftovers(config: ClusterConfig, facts: Facts, hosts: Hosts) -> Facts:
    """End what a killed command, or a lost head, has left on hosts."""
    left = [address for address, one in facts.items() if one.processes]
    if not left:
        return facts
    ended = hosts.each(lambda address, _: hosts.facts(address, "--end"), left)
    return {**facts, **{name: replace(one, resources=facts[name].resources) for name, one in ended.items()}}


def _end_on_lost_hosts(hosts: Hosts, state: State, progress: Progress) -> None:
    """End the cluster on hosts that are no longer in its config, such as the head of its earlier start."""
    lost = [one for one in state.info().get("touched") or () if one not in hosts.addresses]
    _, errors = hosts.try_each(lambda address, _: hosts.facts(address, end_options(state)), lost)
    for error in errors.values():
        progress.warn(f"{error}; what the cluster started there may still run")


def _claim(config: ClusterConfig, facts: Facts, hosts: Hosts, state: State) -> None:
    """Make the hosts the cluster's. Those that are another's are left alone when this start is undone.

    Raises:
        RemoteError: Another cluster has claimed one since it was checked.
    """
    info = state.info()
    claim = {"name": config.name, "id": info["id"], "began": info["began"]}
    text = json.dumps({"wanted": claim, "lives": lives(state)}).encode()
    fresh = [address for address in hosts.addresses if (facts[address].claim or {}).get("id") != info["id"]]
    found, errors = hosts.try_each(lambda address, _: hosts.facts(address, "--claim", input=text), fresh)
    owners = {address: one.claim or {} for address, one in found.items()}
    lost = {address: owner for address, owner in owners.items() if owner.get("id") != info["id"]}
    if lost:
        state.update(touched=[one for one in state.info()["touched"] if one not in lost])
    for address, owner in lost.items():
        name = hosts[address].name
        if owner.get("name") == config.name:
            raise RemoteError(f"{name}: {_started_elsewhere(config)}")
        raise RemoteError(
            f"{name}: belongs to the cluster {owner.get('name')}, which was started at the same moment; take "
            "that down first, or leave the host out"
        )
    for error in errors.values():
        raise error


def _set_up(config: ClusterConfig, facts: Facts, hosts: Hosts, state: State, progress: Progress) -> None:
    """Give each host the token, and run the setup commands where they have not run yet."""
    info = state.info()
    files = setup_files(config)
    commands = {address: setup_commands(config, address == hosts.head) for address in hosts.addresses}
    token = state.token().encode()

    def set_up(address: str, remote: SSHRemote) -> None:
        one = facts[address]
        digest = _digest([*commands[address], *map(str, files)])
        if (one.claim or {}).get("id") == info["id"] and one.setup == digest:
            return
        remote.check(install_command(), input=token)
        for source, target in files:
            remote.put(source, target)
        for command in commands[address]:
            if progress is not None and command:
                progress.note(f"{address}: {command[:60]}")
            _run_setup(config, remote, command)
        remote.check(install_command(f"{FOLDER}/setup-{address}"), input=digest.encode())

    hosts.each(set_up)


def _run_setup(config: ClusterConfig, remote: SSHRemote, command: str) -> None:
    folder = home_path(f"~/overtone_work/{config.name}")
    done = remote.run(
        _marked(config, f"mkdir -p {folder} && cd {folder} && {{ {command}\n}}"), timeout_s=SETUP_S
    )
    if done.status:
        why = f"took more than {SETUP_S / 60:.0f} min" if done.status == 124 else f"ended with {done.status}"
        raise RemoteError(f"{remote.name}: setup `{command}` {why}; its last lines:{last_lines(done.output)}")


def _start_head(config: ClusterConfig, facts: Facts, hosts: Hosts, state: State) -> None:
    """Start Ray on the head, and the autoscaler: at first one that starts no worker by itself."""
    head = hosts[hosts.head]
    _make_key(config, facts, hosts)
    _put_autoscaler(config, facts, hosts, 0)
    command = form.head_start_command(config, facts[hosts.head], f"$HOME/{FOLDER[2:]}/{AUTOSCALER}")
    _start_ray(config, head, command)
    _watch(config, hosts, state, STARTING_S)


def _watch(config: ClusterConfig, hosts: Hosts, state: State, starting_s: float = 0.0) -> None:
    """Start the watchdog on the head, or give it these settings."""
    from overtone.cluster.watchdog import start_command

    price = config.provider.settings.get("price")
    prices = {} if price is None else {"head": price, **dict.fromkeys(map(node_type, hosts.addresses), price)}
    watch = start_command(config, prices=prices, began=state.info()["began"], starting_s=starting_s)
    hosts[hosts.head].check(form.with_environment(config, watch))


def _make_key(config: ClusterConfig, facts: Facts, hosts: Hosts) -> None:
    """Let the head log in to the workers, by a key of the cluster's own that never leaves the head."""
    workers = hosts.addresses[1:]
    if not workers or not config.workers.max:
        return
    head = hosts[hosts.head]
    path = f'"$HOME"/{FOLDER[2:]}/{KEY}'
    comment = quote(key_line(config.name))
    public = head.check(
        f"[ -s {path}.pub ] || {{ rm -f {path} && "
        f"ssh-keygen -q -t ed25519 -N '' -C {comment} -f {path}; }} && cat {path}.pub"
    )
    known = (hosts.known_hosts.read_bytes(), f"{FOLDER}/{KNOWN_HOSTS}")
    head.check(install_command(known[1]), input=known[0])
    line = f"restrict,pty {public}"
    add = (
        f"umask 077; keys=~/.ssh/authorized_keys; line={quote(line)}; mkdir -p ~/.ssh && touch $keys && "
        '{ grep -qxF "$line" $keys || { [ -z "$(tail -c1 $keys)" ] || echo; echo "$line"; } >> $keys; }'
    )
    hosts.each(lambda _, remote: remote.check(add), workers)
    for address in workers[: config.workers.max]:
        one = facts[address]
        test = (
            f"ssh -n -i {path} -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=10 "
            f'-o UserKnownHostsFile="$HOME"/{FOLDER[2:]}/{KNOWN_HOSTS} -o HostKeyAlias={quote(address)} '
            f"-p {one.port} {quote(f'{one.user}@{one.ip or address}')} true"
        )
        done = head.run(test, timeout_s=30)
        if done.status:
            raise UnreachableError(
                f"{head.name} cannot log in to {one.user}@{one.ip or address} (port {one.port}) by the "
                f"cluster's key, which Ray's autoscaler needs:{last_lines(done.output + done.errors, 3)}"
            )


def _put_autoscaler(config: ClusterConfig, facts: Facts, hosts: Hosts, n_least: int) -> None:
    from overtone.cluster.ray_form import yaml_text

    text = yaml_text(form.autoscaler_config(config, facts, n_least))
    hosts[hosts.head].check(install_command(f"{FOLDER}/{AUTOSCALER}"), input=text.encode())


def _start_workers(
    config: ClusterConfig, facts: Facts, hosts: Hosts, wanted: list[str], progress: Progress
) -> None:
    """Start Ray on the workers at the same time, and tell the autoscaler that they are up."""
    head_ip = facts[hosts.head].ip or hosts.head
    commands = form.worker_start_commands(config)

    def start_worker(address: str, remote: SSHRemote) -> None:
        reach = f"timeout 10 bash -c {quote(f'exec 3<>/dev/tcp/{head_ip}/{form.PORT}')}"
        if remote.run(reach, timeout_s=20).status:
            raise RemoteError(
                f"{remote.name} does not reach the head at {head_ip}:{form.PORT}; is a firewall between "
                "them? Ray's nodes need all ports of each other"
            )
        _start_ray(config, remote, form.with_variables(form.worker_environment(head_ip, address), commands))
        progress.note(f"{address} is up")

    hosts.each(start_worker, wanted)
    words = " ".join(map(quote, [hosts.head, *wanted]))
    head = hosts[hosts.head]
    if head.run(python_command(f"-m overtone.cluster.local.node_record {words}")).status:
        log = head.run(f"tail -qn 20 {_LOGS}/monitor.{{log,err}}")
        raise RemoteError(
            f"{head.name}: Ray's autoscaler does not start; its last lines:{last_lines(log.output)}"
        )


def _start_ray(config: ClusterConfig, remote: SSHRemote, command: str) -> None:
    """Start Ray, again if the host is so busy that its raylet does not register within Ray's own 30 s."""
    for _ in range(RAY_STARTS):
        done = remote.run(_marked(config, command), timeout_s=RAY_START_S)
        if _TOO_SLOW not in done.output:
            break
        remote.run(python_command(f"-m overtone.cluster.marked_processes {quote(config.name)}"))
    if done.status:
        why = f"took more than {RAY_START_S:g} s" if done.status == 124 else f"ended with {done.status}"
        said = last_lines(_TRACEBACK.sub(b"", done.output))
        raise RemoteError(f"{remote.name}: `ray start` {why}; its last lines:{said}")


def _wait_for_workers(hosts: Hosts, wanted: list[str]) -> None:
    """Wait for workers that the autoscaler starts, since the cluster is up."""
    deadline = time.monotonic() + JOIN_S
    options = f"--wait-for raylet --within {JOIN_S:g}"
    found = hosts.each(lambda address, _: hosts.facts(address, options, JOIN_S + 30), wanted)
    missing = [address for address, one in found.items() if not one.runs("raylet")]
    if missing:
        log = hosts[hosts.head].run(f"tail -n 20 {_LOGS}/monitor.log")
        waited = JOIN_S + time.monotonic() - deadline
        raise RemoteError(
            f"{', '.join(missing)} did not join within {waited:.0f} s; the autoscaler's last lines:"
            f"{last_lines(log.output)}"
        )


def _marked(config: ClusterConfig, command: str) -> str:
    """Return the command in a shell that counts among the cluster's processes: `down` ends it as a whole."""
    return f"exec env OVERTONE_CLUSTER={quote(config.name)} bash -c {quote(command)} 2>&1"


def _digest(texts: list[str]) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()
