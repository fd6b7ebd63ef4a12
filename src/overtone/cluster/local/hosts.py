"""All hosts of a cluster at once: a command runs on each in parallel, and an error names the hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TypeVar

from overtone.cluster.config import ClusterConfig
from overtone.cluster.head_python import python_command
from overtone.cluster.local.host_facts import HostFacts
from overtone.cluster.remote import RemoteError, UnreachableError, last_lines
from overtone.cluster.ssh_remote import SSHRemote
from overtone.errors import OvertoneError

Answer = TypeVar("Answer")
MOST_AT_ONCE = 32

_MODULE = "overtone.cluster.local.host_facts"


class Hosts:
    """The hosts of a config, by their addresses in it.

    Args:
        config: The cluster's config.
        folder: The folder of the cluster's records on this machine, for the hosts' keys.
        earlier: Addresses that the config may have lost since the cluster began.

    Attributes:
        addresses: The head first.
    """

    def __init__(self, config: ClusterConfig, folder: Path, earlier: Iterable[str] = ()) -> None:
        settings = config.provider.settings
        self.name = config.name
        self.addresses = config.hosts
        self.known_hosts = folder / "known_hosts"
        key = settings.get("ssh_key")
        self._remotes = {
            address: SSHRemote(
                address,
                known_hosts=self.known_hosts,
                user=settings.get("user"),
                port=settings.get("port"),
                key=Path(key).expanduser() if key else None,
            )
            for address in dict.fromkeys([*self.addresses, *earlier])
        }

    @property
    def head(self) -> str:
        """The address of the head."""
        return self.addresses[0]

    def __getitem__(self, address: str) -> SSHRemote:
        return self._remotes[address]

    def each(
        self, do: Callable[[str, SSHRemote], Answer], among: Iterable[str] | None = None
    ) -> dict[str, Answer]:
        """Do something on each host at the same time, and return what came of it, by address.

        Raises:
            OvertoneError: It failed on some; the message names each of them. All others are finished by then.
        """
        found, errors = self.try_each(do, among)
        if errors:
            kind = (
                UnreachableError
                if all(isinstance(one, UnreachableError) for one in errors.values())
                else RemoteError
            )
            raise kind(self._text(errors))
        return found

    def try_each(
        self, do: Callable[[str, SSHRemote], Answer], among: Iterable[str] | None = None
    ) -> tuple[dict[str, Answer], dict[str, OvertoneError]]:
        """Do something on each host at the same time; return what came of it, and the errors, by address."""
        chosen = list(self.addresses if among is None else among)
        found: dict[str, Answer] = {}
        errors: dict[str, OvertoneError] = {}
        if not chosen:
            return found, errors
        threads = ThreadPoolExecutor(min(MOST_AT_ONCE, len(chosen)))
        try:
            running = {threads.submit(do, address, self[address]): address for address in chosen}
            for one in as_completed(running):
                try:
                    found[running[one]] = one.result()
                except OvertoneError as error:
                    errors[running[one]] = error
        except BaseException:  # Ctrl-C: none of the commands is waited for
            self._abandon(chosen)
            raise
        finally:
            threads.shutdown(wait=True, cancel_futures=True)
        return {one: found[one] for one in chosen if one in found}, {
            one: errors[one] for one in chosen if one in errors
        }

    def _abandon(self, addresses: Iterable[str]) -> None:
        """Abandon the commands on all of these hosts, also if Ctrl-C is pressed again meanwhile.

        A command that is left out would be waited for.
        """
        left = list(addresses)
        while left:
            with suppress(KeyboardInterrupt):
                while left:
                    self[left[-1]].abandon()
                    left.pop()

    def _text(self, errors: Mapping[str, OvertoneError]) -> str:
        """Return one line for hosts with the same error."""
        names: dict[str, list[str]] = {}
        for address, error in errors.items():
            prefix = f"{self[address].name}: "
            text = str(error)
            own = [self[address].name] if text.startswith(prefix) else []
            names.setdefault(text.removeprefix(prefix), []).extend(own)
        return "\n".join(f"{', '.join(own)}: {text}" if own else text for text, own in names.items())

    def facts(
        self, address: str, options: str = "", timeout_s: float = 60.0, input: bytes | None = None
    ) -> HostFacts:
        """Ask a host about itself and the cluster.

        Raises:
            RemoteError: Overtone is missing there, or fails.
            UnreachableError: It does not answer.
        """
        command = python_command(f"-m {_MODULE} {quote(self.name)} {quote(address)} {options}")
        done = self[address].run(command, input=input, timeout_s=timeout_s)
        if done.status == 0:
            try:
                return HostFacts.of(done.text)
            except (ValueError, KeyError, TypeError):
                said = last_lines(done.output + done.errors, 3)
                raise RemoteError(
                    f"{self[address].name}: {_MODULE} printed more or less than its facts; does something "
                    f"there, such as a sitecustomize, print at the start of Python?{said}"
                ) from None
        if done.status == 124:
            late = f"no facts within {timeout_s:g} s; is it overloaded?"
            raise RemoteError(f"{self[address].name}: {late}")
        errors = done.errors.decode(errors="replace")
        if "No module named" in errors or "not found" in errors or done.status == 127:
            raise RemoteError(
                f"{self[address].name}: the Python of its login shell has no Overtone; run there: "
                'pip install "overtone[ray]", in a virtual environment that its login shell activates '
                f"({(errors.strip().splitlines() or ['no output'])[-1]})"
            )
        raise RemoteError(
            f"{self[address].name}: {_MODULE} ended with {done.status}: {errors[-500:].strip()}"
        )

    def close(self) -> None:
        """End the connections."""
        for remote in self._remotes.values():
            remote.close()
