"""A host that is reached over SSH; each call has a time limit.

Host keys: the first key of a host is accepted and kept in the cluster's own `known_hosts`; another key later
is refused. Commands run in the login shell of the user with its rc files read, as in Ray's launcher: `ray`
may be on that PATH alone. What profiles and rc files print is not part of the output of a command.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from shlex import join, quote

from overtone.cluster.remote import (
    Finished,
    RemoteError,
    UnreachableError,
    home_path,
    last_lines,
    login_command,
)
from overtone.cluster.ssh_errors import reason
from overtone.errors import MissingPackageError, OvertoneError

CONNECT_S = 10.0
"""Seconds that a host has to answer."""
_SILENT_S = 5
"""A host is asked for a sign of life this often, and lost after three without one."""
_LOST = 255
"""The status with which ssh ends if there is no connection."""
_VANISHED = 24
"""The status with which rsync ends if files were deleted meanwhile: it has copied all others."""
_BEGIN = "overtone-begins-here"
"""The line between what the shell of the user prints for each command, and the output of the command."""


class SSHRemote:
    """A host over OpenSSH; all commands of this process share one connection to it.

    Args:
        address: The host's name or address.
        user: The user there; None for what ssh's own configuration says.
        port: The port of its sshd; None likewise.
        key: The file of the private key; None for ssh's own keys and its agent.
        known_hosts: The file with the host keys of this cluster. It is made if it is missing.
        proxy: The ProxyCommand of ssh, such as one that goes through the head.
        connect_s: How long the host may take to answer.

    Attributes:
        noise: What the shell of the user printed before the last command, such as by `~/.bashrc`. rsync fails
            if there is any.
    """

    def __init__(
        self,
        address: str,
        *,
        known_hosts: Path,
        user: str | None = None,
        port: int | None = None,
        key: Path | None = None,
        proxy: str | None = None,
        connect_s: float = CONNECT_S,
    ) -> None:
        if shutil.which("ssh") is None:
            raise MissingPackageError("openssh-client", "", "a cluster of hosts") from None
        if not address or address.startswith("-") or any(one.isspace() for one in address):
            raise OvertoneError(f"{address!r} is not a host: give a name or an address, such as 10.0.0.1")
        self.address, self.user, self.port, self.key, self.connect_s = address, user, port, key, connect_s
        self.name = f"{user}@{address}" if user else address
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_abandoned = False
        self.noise = b""
        settings = {
            "BatchMode": "yes",
            "StrictHostKeyChecking": "accept-new",
            "UserKnownHostsFile": f'"{known_hosts}"',
            "GlobalKnownHostsFile": os.devnull,
            "HostKeyAlias": address,  # also on another port: one name of the host in the file
            "HashKnownHosts": "no",
            "ConnectTimeout": str(max(1, round(connect_s))),
            "ServerAliveInterval": str(_SILENT_S),
            "ServerAliveCountMax": "3",
            "LogLevel": "ERROR",
            **({"ProxyCommand": proxy} if proxy else {}),
            **({"IdentitiesOnly": "yes"} if key else {}),
        }
        self._options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        self._options += ["-i", str(key)] if key else []
        self._options += ["-p", str(port)] if port else []
        self._options += ["-l", user] if user else []

    # commands

    def run(self, command: str, *, input: bytes | None = None, timeout_s: float = 60.0) -> Finished:
        """Run a command to its end.

        It ends after `timeout_s` seconds, there, too; the status is then 124.

        Raises:
            UnreachableError: The host does not answer or refuses.
        """
        limited = f"echo {_BEGIN}; exec timeout -k 5 {timeout_s:g} sh -c {quote(login_command(command))}"
        process = self._start([*self._ssh(), self.address, limited], input is not None)
        try:
            output, errors = process.communicate(input, timeout=timeout_s + self.connect_s + 3 * _SILENT_S)
        except subprocess.TimeoutExpired:
            raise UnreachableError(
                f"{self.name}: no answer for {timeout_s + self.connect_s + 3 * _SILENT_S:.0f} s; is it "
                f"overloaded? Try: {self.command_line()}"
            ) from None
        finally:
            self._end(process)
        if process.returncode == _LOST or process.returncode < 0:
            raise self._unreachable(errors)
        printed, mark, rest = output.partition(f"{_BEGIN}\n".encode())
        if mark:
            self.noise, output = printed, rest
        return Finished(process.returncode, output, errors)

    def check(self, command: str, *, input: bytes | None = None, timeout_s: float = 60.0) -> str:
        """Run a command to its end, and return what it printed, without surrounding white space.

        Raises:
            RemoteError: It failed; the message has its last 20 lines.
            UnreachableError: The host does not answer or refuses.
        """
        done = self.run(command, input=input, timeout_s=timeout_s)
        if done.status:
            why = f"took more than {timeout_s:g} s" if done.status == 124 else f"ended with {done.status}"
            said = last_lines(done.output + done.errors)
            raise RemoteError(f"{self.name}: `{_short(command)}` {why}{':' + said if said else ''}")
        return done.text

    def stream(self, command: str, on_output: Callable[[bytes], None], stdin: int | None = None) -> int:
        """Run a command, pass on what it prints as it comes, and return its status.

        An exception, such as a KeyboardInterrupt, ends the connection of this command, and is raised.

        Raises:
            UnreachableError: The host does not answer, or was lost meanwhile.
        """
        words = [*self._ssh(), self.address, login_command(command)]
        process = self._start(words, False, merges=True, stdin=stdin)
        assert process.stdout is not None
        tail = b""
        try:
            while data := os.read(process.stdout.fileno(), 65536):
                tail = (tail + data)[-2000:]
                on_output(data)
            process.wait()
        finally:
            self._end(process)
        if process.returncode == _LOST:
            raise self._unreachable(tail)
        return process.returncode

    def begin(self, command: str) -> None:
        """Start a command that outlives this call and the connection; it has no output.

        Raises:
            UnreachableError: The host does not answer or refuses.
        """
        started = f"setsid nohup bash -c {quote(command)} </dev/null >/dev/null 2>&1 3>&- 4>&- &"
        self.check(started)

    def shell(self, command: str | None = None) -> int:
        """Run a command, or the login shell, on this terminal; return its status."""
        words = ["ssh", "-t", *self._options, "-o", "BatchMode=no", self.address]
        if command is not None:
            words.append(f"bash -lic {quote(command)}")
        return subprocess.run(words, check=False).returncode

    def proxy_command(self) -> str:
        """Return the ProxyCommand of ssh that leads through this host to another one."""
        words = join(["ssh", *self._options, self.address]).replace("%", "%%")
        return f"{words} -W %h:%p"

    @contextmanager
    def forward(self, port: int) -> Iterator[int]:
        """Forward a port of this machine's loopback to `port` of the host's during the block.

        Raises:
            UnreachableError: The host does not answer or refuses.
        """
        for _ in range(5):  # Another process may take the port in between.
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                here = int(free.getsockname()[1])
            words = ["-o", "ExitOnForwardFailure=yes", "-L", f"127.0.0.1:{here}:127.0.0.1:{port}"]
            # `cat` ends with this process, also if that is killed: nothing of the tunnel outlives it.
            process = self._start(["ssh", *self._options, *words, self.address, "echo ready; exec cat"], True)
            assert process.stdout is not None
            assert process.stderr is not None
            try:
                # Shells may print before. If there is no such line, the output ends with the connection.
                if any(line.endswith(b"ready\n") for line in process.stdout):
                    yield here
                    return
                errors = process.stderr.read()
            finally:
                self._end(process)
            if b"ddress already in use" not in errors:
                raise self._unreachable(errors)
        raise self._unreachable(errors)

    # files

    def put(self, source: Path, target: str, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder, to the host.

        Each file is replaced atomically; files that are the same are skipped; none is deleted.

        Args:
            source: The file or folder here.
            target: The file or folder there; folders above it are made.
            exclude: Patterns of rsync, such as ".git".

        Raises:
            RemoteError: It cannot be copied.
            UnreachableError: The host does not answer or refuses.
        """
        source = source.absolute()  # rsync takes the name before a colon for a host
        is_folder = source.is_dir()
        folder, name = (target, "") if is_folder else _split(target)
        enter = f"mkdir -p {home_path(folder)} && cd {home_path(folder)}"
        self._rsync(enter, f"{source}/" if is_folder else str(source), self._there(name), exclude)

    def get(self, source: str, target: Path, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder, from the host; as `put`.

        Args:
            source: The file there; a folder ends in "/".
            target: The file or folder here; folders above it are made.
            exclude: Patterns of rsync.

        Raises:
            RemoteError: It cannot be copied.
            UnreachableError: The host does not answer or refuses.
        """
        is_folder, target = source.endswith("/"), target.absolute()
        folder, name = (source, "") if is_folder else _split(source)
        (target if is_folder else target.parent).mkdir(parents=True, exist_ok=True)
        there = self._there(escape(name))  # the host expands patterns
        self._rsync(f"cd {home_path(folder)}", there, str(target), exclude, "--partial-dir=.rsync-partial")

    def abandon(self) -> None:
        """End all that runs here for the host at once, for good, such as from another thread after a Ctrl-C.

        What a command has started on the host may go on there.
        """
        self._is_abandoned = True
        for process in list(self._running):
            with suppress(OSError):
                process.terminate()
        self.close()  # The shared connection holds their outputs open.

    def close(self) -> None:
        """End the shared connection. A further command opens a new one."""
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [*self._ssh(), "-O", "exit", self.address],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=10,
                check=False,
            )  # fmt: skip
        _open_connections.pop(id(self), None)

    # parts

    def command_line(self) -> str:
        """Return the command with which a person tries the connection."""
        port = ["-p", str(self.port)] if self.port else []
        key = ["-i", str(self.key)] if self.key else []
        return join(["ssh", *port, *key, self.name])

    def _ssh(self) -> list[str]:
        control = f"{_control_folder()}/%C"
        shared = ["-o", "ControlMaster=auto", "-o", f"ControlPath={control}", "-o", "ControlPersist=60"]
        _open_connections[id(self)] = self
        return ["ssh", *self._options, *shared]

    def _start(
        self, words: list[str], has_input: bool, merges: bool = False, stdin: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start ssh in a session of its own: a Ctrl-C goes to this process alone, which decides what ends."""
        if self._is_abandoned:
            raise UnreachableError(f"{self.name}: its commands were interrupted")
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merges else subprocess.PIPE,
            start_new_session=True,
        )
        self._running.add(process)
        if self._is_abandoned:  # by another thread, which may not have seen this process
            self._end(process)
            self.close()
            raise UnreachableError(f"{self.name}: its commands were interrupted")
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End a local ssh or rsync, if it still runs."""
        self._running.discard(process)
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _there(self, name: str) -> str:
        """Return rsync's name of a file in the folder that its command enters; "" for the folder itself."""
        return f"[{self.address}]:./{name}" if ":" in self.address else f"{self.address}:./{name}"

    def _rsync(self, enter: str, source: str, target: str, exclude: Sequence[str], *options: str) -> None:
        """Run rsync.

        Args:
            enter: The shell command that enters the folder there: shells would expand patterns in a path.
        """
        if shutil.which("rsync") is None:
            raise OvertoneError("copying files needs rsync on this machine: sudo apt install rsync")
        words = ["rsync", "-rlptz", "--timeout=60", f"--rsync-path={enter} && rsync", *options]
        words += [f"--exclude={one}" for one in exclude]
        process = self._start([*words, "-e", join(self._ssh()), "--", source, target], False)
        try:
            _, errors = process.communicate()
        finally:
            self._end(process)
        if process.returncode == _LOST or (process.returncode == 12 and b"ssh: " in errors):
            raise self._unreachable(errors)
        if process.returncode == 127 or (b"rsync: " in errors and b"not found" in errors):
            raise RemoteError(f"{self.name}: copying files needs rsync there: sudo apt install rsync")
        if process.returncode == 30:
            raise UnreachableError(f"{self.name}: was lost while files were copied; run the command again")
        if process.returncode not in (0, _VANISHED):
            said = last_lines(errors)
            raise RemoteError(f"{source} to {target}: rsync ended with {process.returncode}:{said}")

    def _unreachable(self, errors: bytes) -> UnreachableError:
        said = errors[-5000:].decode(errors="replace").strip()
        why = reason(said, self.key, self.connect_s)
        return UnreachableError(f"{self.name}: {why}. Try: {self.command_line()}")


def _split(path: str) -> tuple[str, str]:
    """Return the folder and the name of a path on a host."""
    folder, slash, name = path.rpartition("/")
    return folder + slash or ".", name


def _short(command: str) -> str:
    return command if len(command) <= 100 else command[:97] + "..."


_open_connections: dict[int, SSHRemote] = {}
_making_folder = threading.Lock()
_folders: dict[int, str] = {}
"""The folder of control sockets of this process, by its id: a forked child makes its own."""


def _control_folder() -> str:
    """Return the folder of the sockets: short (a socket's path has at most 104 bytes), of this user alone."""
    here = os.getpid()
    with _making_folder:
        if here not in _folders:
            _folders.clear()
            _open_connections.clear()
            _folders[here] = tempfile.mkdtemp(prefix="ot-ssh-", dir="/tmp")
            atexit.register(_close_all, here)
        return _folders[here]


def _close_all(pid: int) -> None:
    if os.getpid() != pid:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interpreter ends: a traceback helps nobody
    for remote in list(_open_connections.values()):
        remote.close()
    shutil.rmtree(_folders.pop(pid, ""), ignore_errors=True)
