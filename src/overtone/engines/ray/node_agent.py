"""The agent on each node: passes orders to the node's engine, and its events to the driver."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isnan
from pathlib import Path
from socket import socket
from time import monotonic
from typing import Any, Protocol

from overtone.as_ray import install_in_worker
from overtone.core import messages as m
from overtone.core.job import Job
from overtone.engines.ray.checkpoint_transfer import fetch_file
from overtone.engines.ray.connection import call
from overtone.engines.ray.driver_place import DriverPlace
from overtone.engines.ray.prints import Prints
from overtone.worker import shared_objects
from overtone.worker.checkpoints import held_folders
from overtone.worker.gang.plan import RankOrder
from overtone.worker.machines import EVERY_S
from overtone.worker.machines.sample import MachineSampler
from overtone.worker.message_codec import Message, message_frame
from overtone.worker.protocol import order_reader

READ_BYTES = 1 << 18


class NodeEngine(Protocol):
    """The engine of one node.

    The driver sends a command of the core as it is, and any other call as a tuple: ("kill", trial_id).
    `on_ranks` gets the messages about ranks that are for the driver.
    """

    on_lines: Callable[[str, str, int, str, list[str]], None]
    on_output: Callable[[str, str, str], None]
    on_largest: Callable[[str, int, str], None]
    on_ranks: Callable[[Message], None]

    def watch(self, sock: socket, call: Callable[[int], None]) -> None:
        """Call `call` in a `poll` whenever `sock` can be read."""

    def poll(self, timeout_s: float | None) -> Sequence[m.Event]:
        """Return the next events."""

    def submit(self, commands: Sequence[m.Command]) -> None:
        """Carry out commands."""

    def kill(self, trial_id: str) -> None:
        """Kill a trial's processes."""

    def start_ranks(self, orders: Sequence[RankOrder], has_head: bool) -> None:
        """Start these ranks of a trial, whose head runs here if `has_head`."""

    def end_ranks(self, trial_id: str, attempt: int, generation: int) -> None:
        """Kill the ranks of a trial that run here."""

    def new_ranks(self) -> list[tuple[str, int, list[int]]]:
        """Return (trial_id, attempt, pids) for the ranks whose processes all run since the last call."""

    def wake(self) -> None:
        """Make `poll` return."""

    def close(self) -> None:
        """End all trials and close the engine."""


class OnNodes(Protocol):
    """Maker of the engines of nodes."""

    def pack(self, job: Job) -> bytes:
        """Return the pickled Job, for any node."""

    def open(self, packed: bytes, job: Job) -> NodeEngine:
        """Return an open engine of this node."""


@dataclass(frozen=True, slots=True)
class Errand:
    """Data that an agent or a trial's actor needs to work for a run.

    Attributes:
        address: Address of the driver's port.
        token: Token to send to that port.
        node: Name of the node.
        on_nodes: Makes the node's engine.
        job: The Job without the trainable, for nodes that see the driver's disk.
        apart: The same for nodes that do not see the driver's disk.
        packed: References to the packed Job: for nodes that see the driver's disk, and for others.
        probe: A file that exists if the node sees the driver's disk; "" if no node sees it.
        place: Where the driver works, and where it finds modules.
        objects: (path, reference to the contents) of the files of large parameters; without a
            reference, the carrier has the file.
        carrier: The address of the carrier, if there is one.
        as_ray: The version of Ray that the driver's `install_as_ray` states; "" if it was not called.
    """

    address: tuple[str, int]
    token: bytes
    node: str
    on_nodes: OnNodes
    job: Job
    apart: Job
    packed: tuple[Any, Any]
    probe: str
    place: DriverPlace
    objects: tuple[tuple[str, Any], ...] = ()
    carrier: tuple[str, int] | None = None
    as_ray: str = ""

    @property
    def shares_disk(self) -> bool:
        """True if this process sees the driver's disk."""
        return bool(self.probe) and os.path.exists(self.probe)


def relay(errand: Errand, fetch: Callable[[Any], bytes], memory_share: float | None = None) -> None:
    """Work for a run until its driver hangs up.

    Args:
        errand: Data about the run.
        fetch: Returns the object of a reference.
        memory_share: Share of the node's memory. Before more is in use, the trial that uses the
            most memory is ended; None for no such limit.
    """
    # Ray ends this process soon after its driver: if that interrupts one step, the others still run.
    with ExitStack() as at_end:
        sock = at_end.enter_context(call(errand.address, errand.token))
        at_end.callback(shared_objects.release_adopted)
        shares = settle(errand, fetch)
        job = replace(errand.job if shares else errand.apart, memory_share=memory_share)
        if not shares:
            home = job.folder.parent
            at_end.callback(held_folders.let_go, home, held_folders.hold(home))
            job.folder.mkdir(parents=True, exist_ok=True)
        engine = errand.on_nodes.open(fetch(errand.packed[not shares]), job)
        at_end.callback(engine.close)
        Relay(sock, engine, errand.node, errand.job.log_to_file is None, shares, job.folder).run()


class Relay:
    """One run's work on one node.

    Args:
        sock: Connection to the driver.
        engine: Engine that runs the trials.
        node: Name of this node.
        is_cut: Whether to limit the output of trials that print too much.
        sees_disk: Whether the node sees the driver's disk, and so keeps the output of its trials.
        folder: A folder on the disk that is sampled.
    """

    def __init__(
        self,
        sock: socket,
        engine: NodeEngine,
        node: str,
        is_cut: bool = True,
        sees_disk: bool = True,
        folder: Path = Path(),
    ) -> None:
        self._sock, self._engine = sock, engine
        self._reader = order_reader()
        self._out: list[Message] = [("node", node, os.getpid(), sees_disk)]
        self._is_cut = is_cut
        self._said: dict[tuple[str, int], Prints] = {}  # by trial and pid
        self._is_over = False
        self._sampler, self._sample_at = MachineSampler(folder), monotonic() + EVERY_S
        self._calls: Mapping[str, Callable[..., None]] = {
            "kill": engine.kill,
            "start_ranks": engine.start_ranks,
            "end_ranks": engine.end_ranks,
        }
        engine.on_lines = self._on_lines
        engine.on_output = self._on_output
        engine.on_largest = lambda *said: self._out.append(("largest", *said))
        engine.on_ranks = lambda message: self._out.append(message)
        engine.watch(sock, self._on_orders)

    def run(self) -> None:
        """Pass on orders and events until the driver hangs up."""
        while not self._is_over:
            self._flush()
            events = self._engine.poll(EVERY_S)
            self._out += [("rank_pids", *found) for found in self._engine.new_ranks()]
            if monotonic() >= self._sample_at:
                self._sample()
            for event in events:
                message = told(event)
                if message is not None:
                    if message[0] in ("ended", "hopeless"):
                        for about in [one for one in self._said if one[0] == message[1]]:
                            self._out += self._said.pop(about).rest()
                    self._out.append(message)

    def _sample(self) -> None:
        self._sample_at = monotonic() + EVERY_S
        try:
            numbers = self._sampler.sample().as_numbers()
        except Exception:  # such as a library that fails on this system: there are no samples then
            self._sample_at = inf
        else:
            self._out.append(("machine", "", [None if isnan(one) else one for one in numbers]))

    def _flush(self) -> None:
        if not self._out:
            return
        try:
            # blocks while the driver is behind: trials then wait as well, instead of filling memory
            self._sock.sendall(b"".join(map(message_frame, self._out)))
        except OSError:
            self._is_over = True
        self._out = []

    def _on_orders(self, mask: int) -> None:
        try:
            data = self._sock.recv(READ_BYTES)
        except OSError:
            data = b""
        if not data:
            self._is_over = True
            self._engine.wake()
            return
        for order in self._reader.feed(data):
            if isinstance(order, tuple):
                self._calls[order[0]](*order[1:])
            else:
                self._engine.submit([order])

    def _on_output(self, trial_id: str, stream: str, text: str) -> None:
        self._out.append(("output", trial_id, "", 0, stream, text.splitlines()))

    def _on_lines(self, trial_id: str, name: str, pid: int, stream: str, lines: list[str]) -> None:
        prints = self._said.get((trial_id, pid))
        if prints is None:
            prints = self._said[trial_id, pid] = Prints(trial_id, name, pid, self._is_cut)
        self._out += prints.messages(stream, lines)


def told(event: m.Event) -> Message | None:
    """Return the message for a trial's event; None for any other event."""
    if isinstance(event, m.Reported):
        return ("reported", event.trial_id, event.attempt, event.t, event.raw, event.checkpoint)
    if isinstance(event, m.Started):
        return ("started", event.trial_id, event.attempt, event.pid, event.hostname, event.restored)
    if isinstance(event, m.Saved):
        return ("saved", event.trial_id, event.attempt, event.checkpoint)
    if isinstance(event, m.SaveFailed):
        return ("save_failed", event.trial_id, event.attempt, event.error)
    if isinstance(event, m.Ended):
        if event.is_hopeless:
            return ("hopeless", event.trial_id, event.attempt, event.error, event.traceback)
        return ("ended", event.trial_id, event.attempt, event.cause, event.error, event.traceback)
    if isinstance(event, m.Noticed):
        return ("noticed", event.trial_id, event.attempt, event.grace_s)
    return None


def settle(errand: Errand, fetch: Callable[[Any], bytes]) -> bool:
    """Set up this process's folder, modules and files like the driver's; return whether it sees its disk.

    The files of large parameters are copied to this node once, for all its trials.
    """
    shares, environment = errand.shares_disk, errand.job.runtime_env
    if errand.as_ray:
        install_in_worker(errand.as_ray)
    if shares:
        errand.place.take_over(environment)
    for path, reference in errand.objects:
        if not Path(path).exists():
            write = partial(_write_object, errand, fetch, path, reference)
            shared_objects.adopt(shared_objects.ObjectRef(path), write)
    return shares


def _write_object(
    errand: Errand, fetch: Callable[[Any], bytes], path: str, reference: Any, target: Path
) -> None:
    """Write the contents of a large parameter's file to `target`."""
    if reference is not None:
        target.write_bytes(fetch(reference))
        return
    assert errand.carrier is not None
    fetch_file(errand.carrier, errand.token, path, target)
