"""Starts a cluster as a job of Slurm, and waits until Ray is up on the job's nodes."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.progress import Progress
from overtone.cluster.ray_form import setup_files
from overtone.cluster.remote import Remote, RemoteError, home_path, last_lines
from overtone.cluster.slurm.commands import JobInfo, Slurm, SlurmError
from overtone.cluster.slurm.logins import login_node, node_remote
from overtone.cluster.slurm.remote import SlurmRemote
from overtone.cluster.slurm.script import folder, job_settings, script
from overtone.cluster.state import State
from overtone.cluster.tokens import install_command

_JOIN_S = 120.0
"""Seconds that a start waits for nodes beside the first; a node that joins later is used, too."""

_REASONS = {
    "PartitionTimeLimit": 'longer than the partition allows: set raw: {time: "4:00:00"}; the job is then '
    "queued again until limits.hours are used up",
    "PartitionNodeLimit": "more nodes than the partition allows: lower workers.max",
    "PartitionConfig": "no node of the partition has what the config asks for; sinfo -N -l shows them",
    "BadConstraints": "no node has what the config asks for; sinfo -N -l shows them",
    "AccountNotAllowed": "name another provider.account",
    "InvalidAccount": "name another provider.account",
    "InvalidQOS": "name another provider.qos",
    "QOSMaxWallDurationPerJobLimit": 'longer than the qos allows: set raw: {time: "4:00:00"}',
    "AssocMaxJobsLimit": "your account has as many jobs as it may",
    "Dependency": "an earlier job of this cluster has not ended",
}
"""Advice for some of Slurm's reasons why a job is pending."""
_HOPELESS = {
    "PartitionTimeLimit", "PartitionNodeLimit", "PartitionConfig", "BadConstraints", "AccountNotAllowed",
    "InvalidAccount", "InvalidQOS",
}  # fmt: skip
"""The reasons for which a job would wait for ever: sites can choose not to refuse such a job."""


def start_job(config: ClusterConfig, state: State, progress: Progress, ends_with_run: bool) -> None:
    """Submit the job of a cluster, unless there is one, and wait until Ray is up on its nodes.

    Args:
        config: The cluster's config.
        state: The cluster's records.
        progress: Shows the phases.
        ends_with_run: Whether the job ends after the first run on it.

    Raises:
        ConfigError: Slurm has no such partition.
        SlurmError: Slurm refuses the job, or it ended.
    """
    login = login_node(config)
    slurm = Slurm(login)
    with progress.phase("check"):
        slurm.check_commands()
        _check_partition(config, slurm)
        jobs = slurm.jobs(config.name)
    with progress.phase("start head"):
        if not jobs:
            jobs = [_submitted(config, state, login, slurm, ends_with_run)]
            progress.note(f"submitted job {jobs[0].id}")
        head = _wait_for_head(config, login, slurm, jobs[0], progress)
    with progress.phase("start workers"):
        _wait_for_workers(config, login, head, progress)


def _check_partition(config: ClusterConfig, slurm: Slurm) -> None:
    asked = config.provider.settings.get("partition")
    if asked is None:
        return
    there = slurm.partitions()
    for name in asked.split(","):
        if name not in there:
            raise config.error(
                "provider.partition", f"is not a partition here; there are {', '.join(there)}", asked
            )


def _submitted(
    config: ClusterConfig, state: State, login: Remote, slurm: Slurm, ends_with_run: bool
) -> JobInfo:
    """Prepare the folder on the shared disk, and submit the job.

    Of two that submit at the same moment, from two machines, the later one cancels its own job.
    """
    here = folder(config.name)
    _check_run(login, install_command(f"{here}/token"), state.token().encode())
    old = "begin nodes head.json ended.json used.json log runs.before"
    clean = f"cd {home_path(here)} && rm -rf {old} && mkdir -m 700 begin && (mv -T runs runs.before; cat)"
    _put_setup_files(config, login)
    _check_run(login, f"{clean} > job.json", job_settings(config, ends_with_run))
    text = script(config)
    _check_run(login, f"cat > {home_path(here)}/job.sh", text.encode())
    job = slurm.submit(text)
    state.record({"event": "job submitted", "job": job})
    first = next(iter(slurm.jobs(config.name)), None)
    if first is not None and first.id != job:
        slurm.cancel([JobInfo(job, "", "", "", 0, None, None)])
        return first
    return JobInfo(job, "PENDING", "None", "", 0, None, None)


def _put_setup_files(config: ClusterConfig, login: Remote) -> None:
    """Upload what `setup` reads, such as requirements.txt; the other files follow with the script."""
    for name in setup_files(config):
        target = f"~/overtone_work/{config.name}"
        login.put(Path(config.files or "", name), target if name == "." else f"{target}/{name}")


def _wait_for_head(
    config: ClusterConfig, login: Remote, slurm: Slurm, job: JobInfo, progress: Progress
) -> dict[str, Any]:
    remote, said, began = (
        SlurmRemote(login, config.name, lambda node: node_remote(config, node)),
        "",
        time.monotonic(),
    )
    while True:
        jobs = [one for one in slurm.jobs(config.name) if one.id == job.id]
        if not jobs or jobs[0].state == "COMPLETING":
            raise SlurmError(_failed(config, login, slurm, job.id))
        head = remote.head() if jobs[0].is_running else {}
        if head.get("job") == job.id:
            return head
        if jobs[0].reason in _HOPELESS:
            slurm.cancel(jobs)
            raise SlurmError(f"Slurm cannot run this job ({jobs[0].reason}): {_REASONS[jobs[0].reason]}")
        text = waiting_text(jobs[0])
        if text != said:
            progress.note(text)
            said = text
        elapsed = time.monotonic() - began
        time.sleep(0.5 if elapsed < 30 else 2.0 if elapsed < 300 else 10.0)


def waiting_text(job: JobInfo) -> str:
    """Return what a job waits for, and until when."""
    if job.is_running:
        nodes = f"{job.n_nodes} node{'s' if job.n_nodes != 1 else ''}"
        return f"job {job.id} runs on {nodes}, first on {job.node}; Ray starts there"
    why = [f"{job.reason}: {_REASONS[job.reason]}" if job.reason in _REASONS else job.reason]
    if job.reason == "None":  # Slurm has not looked at it yet.
        why = []
    if job.started:
        why.append(time.strftime("expected to start at %Y-%m-%d %H:%M", time.localtime(job.started)))
    reasons = f" ({', '.join(why)})" if why else ""
    return f"job {job.id} is {job.state.lower()}{reasons}"


def _wait_for_workers(config: ClusterConfig, login: Remote, head: dict[str, Any], progress: Progress) -> None:
    end, nodes = time.monotonic() + _JOIN_S, set(head["nodes"])
    while time.monotonic() < end:
        found = login.run(f"cd {home_path(folder(config.name))}/nodes && cat -- *.json")
        there = set()
        for line in found.text.replace("}{", "}\n{").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                there.add(json.loads(line)["node"])
        if nodes <= there:
            progress.note(f"{len(nodes)} nodes: {', '.join(sorted(nodes))}")
            return
        time.sleep(0.5)
    progress.warn(
        f"Ray is not up on {', '.join(sorted(nodes - there))} after {_JOIN_S:g} s; a later node is used, too"
    )


def _failed(config: ClusterConfig, login: Remote, slurm: Slurm, job: str) -> str:
    log = login.run(f"tail -n 20 {home_path(folder(config.name))}/log")
    how = slurm.end_of(job) or "how, Slurm does not know any more"
    said = last_lines(log.output) or " (empty)"
    return f"job {job} of cluster {config.name} ended before Ray was up ({how}). Its log ends with:{said}"


def _check_run(login: Remote, command: str, input: bytes) -> None:
    found = login.run(command, input=input)
    if found.status != 0:
        raise RemoteError(f"{login.name}: the shared disk cannot be written:{last_lines(found.errors)}")
