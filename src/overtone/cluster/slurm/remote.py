"""The first node of a cluster's job: commands run there as steps, files lie on the shared disk."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import join, quote
from typing import Any

from overtone.cluster.remote import Finished, Remote, RemoteError, UnreachableError, home_path, last_lines
from overtone.cluster.slurm.script import folder, job_name

_ENVIRONMENT = """\
while IFS= read -r -d '' v; do
case "$v" in SLURM*|BASH_FUNC*|PWD=*|SHLVL=*|_=*) ;; *) export "$v" ;; esac
done < /proc/{pid}/environ
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$OVERTONE_CLUSTER_FOLDER/token" RAY_ADDRESS={address}
"""
"""Gives a step the variables of the job's program: those of the job, and what `setup` has changed."""


class SlurmRemote:
    """The first node of a cluster, or the login node while the cluster's job does not run.

    Args:
        login: The login node.
        name: The cluster's name.
        to_node: Makes a connection to a node itself, for tunnels.
    """

    def __init__(self, login: Remote, name: str, to_node: Callable[[str], Remote]) -> None:
        self.login, self._cluster, self._to_node = login, name, to_node
        self.name = login.name

    def head(self) -> dict[str, Any]:
        """Return the job, its first node, the pid of its program and Ray's address; {} if it does not run.

        The file of a job that lost its first node stays, so Slurm is asked, too.
        """
        place = home_path(folder(self._cluster))
        ask = f'squeue --noheader --name={quote(job_name(self._cluster))} --user="$(id -un)" --format="%i %T"'
        found = self.login.run(f"cat {place}/head.json 2>/dev/null && {ask}")
        lines = found.text.splitlines()
        try:
            head = json.loads(lines[0])
        except (IndexError, ValueError):
            return {}
        return head if isinstance(head, dict) and f"{head['job']} RUNNING" in lines else {}

    def run(self, command: str, *, input: bytes | None = None, timeout_s: float = 60.0) -> Finished:
        """Run a command on the first node to its end, or end it after `timeout_s` seconds (status 124)."""
        head = self.head()
        there = self._there(head, command, has_input=input is not None)
        finished = self.login.run(there, input=input, timeout_s=timeout_s)
        self._check_still(head, finished.status)
        return finished

    def stream(
        self, command: str, on_output: Callable[[bytes], None], stdin: int | None = None
    ) -> int:
        """Run a command on the first node, pass on what it prints as it comes, and return its status."""
        head = self.head()
        there = self._there(head, f"exec 2>&1\n{command}" if head else command, stdin is not None)
        # What srun itself says would count as bytes of a log that somebody follows.
        status = self.login.stream(f"{there} 2>/dev/null" if head else there, on_output, stdin)
        self._check_still(head, status)
        return status

    def begin(self, command: str) -> None:
        """Let the job's program run a command, once the job runs, and again after Slurm has queued it again.

        Raises:
            RemoteError: The shared disk cannot be written.
        """
        place, name = home_path(f"{folder(self._cluster)}/begin"), uuid.uuid4().hex
        new = f"{place}/.{name}.new"
        text = f"umask 077 && mkdir -p {place} && cat > {new} && mv {new} {place}/{name}.sh"
        found = self.login.run(text, input=command.encode() + b"\n")
        if found.status != 0:
            raise RemoteError(f"{self.login.name}: {place} cannot be written:{last_lines(found.errors)}")

    def put(self, source: Path, target: str, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder, to the shared disk."""
        self.login.put(source, target, exclude)

    def get(self, source: str, target: Path, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder, from the shared disk."""
        self.login.get(source, target, exclude)

    @contextmanager
    def forward(self, port: int) -> Iterator[int]:
        """Return a port of this machine's loopback that leads to the first node's own during the block.

        It goes over SSH to the node itself, which many sites permit to whom runs a job there.

        Raises:
            UnreachableError: The job does not run, or the node refuses.
        """
        head = self.head()
        if not head:
            raise UnreachableError(f"{self.name}: cluster {self._cluster} has no running job")
        with self._to_node(str(head["node"])).forward(port) as here:
            yield here

    def shell(self, command: str | None = None) -> int:
        """Run a command, or a login shell, on the first node on this terminal, and return its status."""
        return self.login.shell(self._there(self.head(), command or "exec bash -l", has_terminal=True))

    def _check_still(self, head: Mapping[str, Any], status: int) -> None:
        """Tell a command that failed from one whose job was taken away.

        Raises:
            UnreachableError: The job was queued again, or has ended.
        """
        if status != 0 and head and self.head() != head:
            raise UnreachableError(f"{self.name}: job {head['job']} was queued again, or has ended.")

    def _there(
        self, head: Mapping[str, Any], command: str, has_input: bool = False, has_terminal: bool = False
    ) -> str:
        """Return the command of the login node that runs a command on the first node."""
        place = home_path(folder(self._cluster))
        here = f"export OVERTONE_CLUSTER={quote(self._cluster)} OVERTONE_CLUSTER_FOLDER={place}\n"
        if not head:
            return f"{here}{command}"
        environment = _ENVIRONMENT.format(pid=int(head["pid"]), address=quote(str(head["address"])))
        words = [
            "srun", f"--jobid={head['job']}", "--overlap", "--nodes=1", "--ntasks=1",
            f"--nodelist={head['node']}", "--mem=0", "--quiet", "--job-name=overtone-command",
            *(["--pty"] if has_terminal else ["--unbuffered", *([] if has_input else ["--input=none"])]),
            "bash", "-c", f"{here}{environment}{command}",
        ]  # fmt: skip
        return join(words)
