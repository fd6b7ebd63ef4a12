"""Slurm's commands on a login node, and what they answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import join, quote

from overtone.cluster.remote import Finished, Remote, last_lines
from overtone.cluster.slurm.script import comment, job_name
from overtone.errors import OvertoneError

NEEDED = ("sbatch", "squeue", "scancel", "scontrol", "sinfo", "srun")
_FIELDS = "%i|%T|%r|%B|%D|%V|%S|%k"
_GONE_S = 90.0
"""Longer than Slurm takes to end a job's processes (KillWait, 30 s), and to look after them."""


class SlurmError(OvertoneError):
    """A command of Slurm failed, or a job did; the message says why."""

    has_lines = True  # the command line prints its line breaks


@dataclass(frozen=True)
class JobInfo:
    """A job in the queue.

    Attributes:
        id: Its number.
        state: Slurm's word, such as "PENDING", "RUNNING" or "COMPLETING".
        reason: Why it is pending, such as "Resources"; "None" otherwise.
        node: Its first node; "" before it has one.
        n_nodes: Number of its nodes.
        submitted: When it was submitted, in seconds since 1970; None if unknown.
        started: When it started, or is expected to start; likewise.
    """

    id: str
    state: str
    reason: str
    node: str
    n_nodes: int
    submitted: float | None
    started: float | None

    @property
    def is_running(self) -> bool:
        return self.state == "RUNNING"


class Slurm:
    """Slurm, as a login node shows it.

    Args:
        login: The login node.
    """

    def __init__(self, login: Remote) -> None:
        self._login = login

    def check_commands(self) -> None:
        """Refuse a machine without Slurm's commands.

        Raises:
            SlurmError: One is missing.
        """
        found = self._login.run(f"for c in {join(NEEDED)}; do command -v $c >/dev/null || echo $c; done")
        if found.status != 0 or found.text:
            missing = ", ".join(found.text.split()) or "no answer"
            raise SlurmError(
                f"{self._login.name} is not a login node of Slurm (its PATH lacks {missing}): name the "
                "login node in the config, provider: {type: slurm, login: me@login.example.org}"
            )

    def partitions(self) -> list[str]:
        """Return the names of the partitions."""
        return sorted(set(self._run(["sinfo", "--noheader", "--format=%R"]).text.split()))

    def jobs(self, name: str) -> list[JobInfo]:
        """Return the jobs of a cluster that are queued, running or ending; the oldest first."""
        words = ["squeue", "--noheader", f"--name={job_name(name)}", f"--format={_FIELDS}"]
        answer = self._run(words, '--user="$(id -un)"', {"SLURM_TIME_FORMAT": "%s"}).text
        found = [line.split("|", 7) for line in answer.splitlines()]
        jobs = [
            JobInfo(
                one[0], one[1], one[2], "" if one[3] in ("n/a", "N/A", "(null)") else one[3], _whole(one[4]),
                _seconds(one[5]), _seconds(one[6]),
            )
            for one in found
            if len(one) == 8 and one[7] == comment(name)
        ]  # fmt: skip
        return sorted(jobs, key=lambda job: _whole(job.id))

    def submit(self, script: str) -> str:
        """Submit a batch script, which is kept from then on by Slurm, and return the job's number.

        Raises:
            SlurmError: Slurm refuses it.
        """
        found = self._login.run('cd "$HOME" && sbatch --parsable', input=script.encode())
        if found.status != 0:
            raise SlurmError(f"{self._login.name}: sbatch refuses the job:{last_lines(found.errors)}")
        return found.text.splitlines()[-1].partition(";")[0]

    def cancel(self, jobs: Sequence[JobInfo]) -> None:
        """Cancel jobs; those that have ended are not an error.

        Raises:
            SlurmError: Slurm refuses it.
        """
        if jobs:
            self._run(["scancel", "--quiet", *(job.id for job in jobs)])

    def wait_until_gone(self, name: str) -> list[JobInfo]:
        """Wait until a cluster has no job; returns those that are there after 90 s."""
        end = time.monotonic() + _GONE_S
        while (jobs := self.jobs(name)) and time.monotonic() < end:
            time.sleep(1.0)
        return jobs

    def end_of(self, job: str) -> str:
        """Return how a job ended, such as "FAILED, exit code 1:0"; "" if Slurm does not know it any more."""
        shown = self._login.run(f"scontrol --oneliner show job {quote(job)}")
        words = dict(word.split("=", 1) for word in shown.text.split() if "=" in word)
        if shown.status == 0 and "JobState" in words:
            reason = words.get("Reason", "None")
            why = "" if reason == "None" else f", {reason}"
            return f"{words['JobState']}, exit code {words.get('ExitCode', '?')}{why}"
        kept = self._login.run(
            f"sacct --noheader --parsable2 --allocations --format=State,ExitCode --jobs={quote(job)}"
        )
        if kept.status == 0 and kept.text:  # sites without accounting have no sacct, or one that fails
            state, _, code = kept.text.splitlines()[0].partition("|")
            return f"{state}, exit code {code}"
        return ""

    def _run(self, words: Sequence[str], more: str = "", variables: dict[str, str] | None = None) -> Finished:
        prefix = "".join(f"{name}={quote(value)} " for name, value in (variables or {}).items())
        found = self._login.run(f"{prefix}{join(words)} {more}")
        if found.status != 0:
            raise SlurmError(f"{self._login.name}: {words[0]} failed:{last_lines(found.errors)}")
        return found


def _whole(text: str) -> int:
    digits = "".join(filter(str.isdigit, text.partition("_")[0]))
    return int(digits or 0)


def _seconds(text: str) -> float | None:
    return float(text) if text.isdigit() and int(text) else None
