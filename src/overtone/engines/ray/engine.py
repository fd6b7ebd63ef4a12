"""`Ray`: runs trials on all nodes of a Ray cluster, from one single-threaded loop.

Ray reserves the resources of trials as placement groups (`leases`), and starts an agent on each
node that is used (`agents`, `node_agent`). The agent's engine runs the trials of its node. Their
messages arrive in batches, over one connection per node (`connection`). A trial that uses Ray
itself is an actor.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import nan
from typing import Any

from overtone.core.job import Job
from overtone.core.labels import joined, selector_of
from overtone.core.messages import (
    Command,
    Discard,
    Discarded,
    Event,
    Halt,
    Observe,
    Proceed,
    Start,
    Suggest,
    Tick,
    Wake,
    Want,
)
from overtone.core.protocols import Capabilities, Engine
from overtone.engines.discards import Discards
from overtone.engines.loop import Loop
from overtone.engines.prints import write_output
from overtone.engines.ray import agents, cluster_connection
from overtone.engines.ray.cluster_view import NodeFacts, Watch, capped, look
from overtone.engines.ray.connection import TOKEN_BYTES, Line, Port
from overtone.engines.ray.environment import check_environment
from overtone.engines.ray.fair_use import FairUse
from overtone.engines.ray.head import Head
from overtone.engines.ray.job_distribution import Sharing
from overtone.engines.ray.leases import Leases
from overtone.engines.ray.metrics import figures_of
from overtone.engines.ray.node_agent import Errand, OnNodes
from overtone.engines.ray.nodes import Nodes
from overtone.engines.ray.options import most_of, priority_of, seconds, unknown
from overtone.engines.ray.output import Output
from overtone.engines.ray.pending_reasons import Shortage
from overtone.engines.ray.state import Node, RayAttempt
from overtone.engines.ray.trials import Trials
from overtone.errors import OvertoneError
from overtone.worker.machines.sample import sample_of
from overtone.worker.message_codec import WRONG, Message

CLOSE_WITHIN_S = 6.0
JOIN_WITHIN_S = 5.0
"""Maximum time that the first trial waits for the register of other runs."""

EAGER_AGENTS = 4
"""Maximum number of nodes that get their agent before the first trial starts."""


class Ray(Engine):
    """Runs trials on a Ray cluster; nodes may come and go.

    Args:
        on_nodes: Makes the engine that runs the trials of each node.
        address: Address of the cluster; by default that of this process's connection, or that of
            RAY_ADDRESS, or a new cluster on this machine.
        max_resources: Maximum amounts that trials use at once, by resource name; by default no maximum.
        labels: Selector for the nodes: each label's condition is "x", "!x", "in(x, y)" or "!in(x, y)".
        priority: A run with a higher priority gets the next resources that become free; runs of equal
            priority share them (`shares`). Running trials are not stopped.
        resource_timeout_s: Seconds after which the run ends with an error, if no trial runs and all
            waiting trials need resources that no node has; by default the run waits without limit.
        runtime_env: Environment of the workers, as for `ray.init`, if this engine connects to the cluster.
        idle_s: Seconds to keep unused resources for the next trial.
        carries: Whether checkpoints are sent to the driver even if a node sees the driver's disk.

    Attributes:
        on_output: Receives lines with the trial, its pid and its node in front.
    """

    capabilities = Capabilities(is_elastic=True, isolates=True, spans_hosts=True)

    def __init__(
        self,
        on_nodes: OnNodes,
        address: str | None = None,
        max_resources: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        priority: float = 0,
        resource_timeout_s: float | None = None,
        runtime_env: Mapping[str, Any] | None = None,
        idle_s: float = 5.0,
        carries: bool = False,
    ) -> None:
        self.on_output = write_output
        self.on_sample = lambda node, sample: None
        self._on_nodes = on_nodes
        self._address = address
        self._most = most_of(max_resources)
        self._labels = selector_of("labels", labels)
        self._priority = priority_of(priority)
        self._runtime_env = dict(runtime_env or {})
        self._idle_s = seconds("idle_s", idle_s)
        self._carries = carries
        if resource_timeout_s is not None:
            resource_timeout_s = seconds("resource_timeout_s", resource_timeout_s)
        self._shortage = Shortage(self._most, resource_timeout_s)
        self._loop = Loop()
        self._lines: dict[Line, Node | RayAttempt | None] = {}  # None: the caller has not identified itself
        self._calls: deque[Callable[[], None]] = deque()  # from other threads
        self._is_open = False

    # --- the Engine ------------------------------------------------------------------

    def open(self, job: Job) -> None:
        """Connect to the cluster and start agents on nodes, which prepare while the driver continues.

        Raises:
            MissingPackageError: Ray is not installed.
            OvertoneError: The cluster cannot be used, or this engine has already run an experiment.
            TrainableError: The Job cannot be sent to another process.
        """
        if self._is_open:
            raise OvertoneError("this Ray engine has run an experiment already: make another")
        self._job = job
        self._labels = self._shortage.labels = joined(self._labels, job.label_selector)
        cluster_connection.connect(self._address, self._runtime_env)
        check_environment(job.runtime_env)
        self._ray_job = cluster_connection.job_id()
        home, ip = cluster_connection.driver_node()
        token = secrets.token_bytes(TOKEN_BYTES)
        self._sharing = Sharing(job, ip, token, self._on_nodes, self._carries)
        self._loop.restart_clock(job.elapsed_s)
        self._is_open = True
        self._port = Port(self._loop, ip, token, self._on_call)
        self._output = Output(job, lambda *said: self.on_output(*said))
        uses_ray = self._sharing.uses_ray
        # An actor learns of its bundle's accelerators by itself; the ranks of a trial do not.
        self._leases = Leases(
            self._wake_for(self._on_granted),
            lambda shape: not uses_ray or len(shape.bundles) > 1,
            self._labels,
        )
        self._figures = figures_of(job.folder.name, token.hex()[:12])
        self._trials = Trials(
            job, uses_ray, self._loop, self._leases, self._output, self._errand, self._wake_for,
            self._figures.results, self._on_sample,
        )  # fmt: skip
        self._nodes = self._trials.nodes = Nodes(
            self._trials, self._leases, home, self._labels, self._most, self._idle_s, self._errand,
            self._wake_for, lambda after_s, call: self._loop.at(self._loop.now() + after_s, call),
        )  # fmt: skip
        self._discards = Discards(job.store, self.wake)
        self._fair_use = FairUse(
            token.hex()[:12], self._priority, self._most, self._leases, self._nodes,
            lambda: self._shortage.wanted, self._trials.asked, self._wake_for,
            lambda after_s, call: self._loop.at(self._loop.now() + after_s, call),
        )  # fmt: skip
        self._watch = Watch(self._wake_for(self._on_look), self._look)
        self._head = Head(
            cluster_connection.head_address(), lambda: self._watch.answered_at, self._say_soon, job.folder
        )
        found = self._watch.start()
        self._nodes.know(found)
        self._head.start()
        nodes = [node for node in self._nodes.named().values() if not node.is_leaving]
        for name in unknown(self._most, self._nodes.total().values()):
            self._output.say(f"max_resources limits {name!r}, which no node has now")
        if not uses_ray:
            for node in nodes[:EAGER_AGENTS]:
                self._nodes.send_agent(node)
        self._fair_use.join(JOIN_WITHIN_S)
        self._take_in(found)

    def now(self) -> float:
        return self._loop.now()

    def describe(self) -> str:
        capacity = capped(self._nodes.total(), self._most)
        total: dict[str, float] = {}
        for one in capacity.values():
            for name, amount in one.items():
                total[name] = total.get(name, 0.0) + amount
        cpus = total.get("cpu", 0)
        shown = [f"{len(capacity)} node{'s' * (len(capacity) != 1)}", f"{cpus:g} CPU{'s' * (cpus != 1)}"]
        shown += [f"{total['gpu']:g} GPUs"] if total.get("gpu") else []
        return f"Ray engine: {', '.join(shown)}, {total.get('memory', 0) / 2**30:.1f} GiB memory"

    @property
    def names(self) -> dict[str, str]:
        """The name of each node in events, by Ray's id."""
        nodes = self._nodes.named() if self._is_open else {}
        return {node.id: name for name, node in nodes.items()}

    def submit(self, commands: Sequence[Command]) -> None:
        with self._loop.may_close():
            for command in commands:
                if self._loop.is_closed:
                    return
                self._carry_out(command)
            self._flush()

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, Start):
            self._trials.start(command)
        elif isinstance(command, (Proceed, Halt)):
            self._trials.pass_on(command)
        elif isinstance(command, Discard):
            self._discards.put(command.uri)
        elif isinstance(command, Wake):
            self._loop.at(command.time, lambda: self._trials.events.append(Tick(self.now())))
        elif isinstance(command, Want):
            self._shortage.want(command.shape, command.count)
            self._leases.want(command.shape, command.count)
            self._say()
        elif not isinstance(command, (Suggest, Observe)):
            raise TypeError(f"{command!r} is not a command")

    def _say(self) -> None:
        """Print, once for each shape, that its trials wait for missing resources."""
        for line in self._shortage.news():
            self._output.say(line)

    def _say_soon(self, text: str) -> None:
        """Print a line from another thread: in the next `poll`, or directly if `poll` takes too long."""
        self._output.say_from_thread(text, lambda say: self._wake_for(say)())

    def waits(self) -> str:
        return self._shortage.status()

    def poll(self, timeout_s: float | None) -> Sequence[Event]:
        if not self._is_open:
            return self._loop.poll(timeout_s, [], self._gather)
        self._fair_use.keep_up()
        return self._loop.poll(timeout_s, self._trials.events, self._gather)

    def _gather(self) -> None:
        if self._is_open and not self._loop.is_closed:
            while self._calls:
                self._calls.popleft()()
            self._trials.events += [Discarded(self.now(), uri) for uri in self._discards.done()]
            if not self._trials.events:  # the controller knows of each trial that has ended
                self._fair_use.keep_up()
            self._flush()

    def _flush(self) -> None:
        for line in list(self._lines):
            line.flush()
            if not line.is_open:
                del self._lines[line]

    def wake(self) -> None:
        self._loop.wake()

    def stacks(self, trial_id: str) -> str:
        found = self._trials.processes(trial_id) if self._is_open else []
        if not found:
            raise OvertoneError(f"trial {trial_id} does not run: it has no process")
        return "\n".join(
            agents.stacks_on(node.id, pid, trial_id, self._job.runtime_env) for node, pid in found
        )

    def _wake_for(self, call: Callable[[], None]) -> Callable[[], None]:
        """Return a function for other threads that schedules `call` in the engine's thread."""

        def wake() -> None:
            self._calls.append(call)
            self._loop.wake()

        return wake

    def close(self) -> None:
        if self._loop.is_closed:
            return
        self._loop.is_closed = True
        try:
            if self._is_open:
                self._close(time.monotonic() + CLOSE_WITHIN_S)
        finally:
            self._loop.close()

    def _close(self, give_up_at: float) -> None:
        self._watch.stop()
        self._head.stop()
        if cluster_connection.is_connected():
            self._figures.close()
        self._trials.close()
        for line in list(self._lines):
            line.close()
        self._port.close()
        self._leases.close(1.0)
        self._fair_use.close()
        self._nodes.close(give_up_at)
        self._discards.close(max(0.5, give_up_at - time.monotonic()))
        self._sharing.close()
        self._output.close()

    # --- nodes -----------------------------------------------------------------------

    def _look(self) -> list[NodeFacts]:
        """Return the nodes that are alive; called in the watch's thread."""
        if cluster_connection.job_id() != self._ray_job:
            self._wake_for(self._on_shutdown)()
            return []
        return look()

    def _on_look(self) -> None:
        found = self._watch.newest()
        if found is not None:
            self._take_in(found)
            self._figures.publish(self._trials.running)

    def _on_shutdown(self) -> None:
        raise OvertoneError(
            "Ray was shut down in this process (ray.shutdown()) while an experiment ran there, and its "
            "trials with it; resume it once Ray is initialised again"
        )

    def _take_in(self, found: Sequence[NodeFacts]) -> None:
        nodes, shortage = self._nodes, self._shortage
        nodes.look(found, lambda: self._fair_use.look(found))
        shortage.look(nodes.total(), nodes.capacity())
        self._say()
        shortage.check(self.now(), len(self._trials) > 0)

    def _on_granted(self) -> None:
        self._trials.take_granted()

    def _errand(self, name: str) -> Errand:
        return self._sharing.errand(self._port.address, name)

    # --- calls -----------------------------------------------------------------------

    def _on_call(self, sock: Any) -> None:
        self._lines[Line(self._loop, sock, self._on_hello, self._on_line_end)] = None

    def _on_hello(self, line: Line, messages: list[Message]) -> None:
        """Handle messages of a connection; the first message identifies the caller."""
        owner = self._lines.get(line)
        if owner is None:
            owner = self._greet(line, messages.pop(0))
            if owner is None:
                self._lines.pop(line, None)
                line.close()
                return
            self._lines[line] = owner
        if isinstance(owner, RayAttempt):
            self._trials.hear_actor(owner, messages)
            return
        is_broken = bool(messages) and messages[-1][0] == WRONG
        self._trials.hear(owner, messages[:-1] if is_broken else messages)
        if is_broken:  # its agent is ended like an agent that has hung up
            line.close()
            self._on_line_end(line)

    def _greet(self, line: Line, first: Message) -> Node | RayAttempt | None:
        if first[0] == "node":
            node = self._nodes.greet(line, first[1])
            if node is not None:
                node.sees_disk = first[3]
            return node
        attempt = self._trials.greet(line, first[1], first[2]) if first[0] == "hello" else None
        if attempt is not None:
            attempt.head.node.sees_disk = first[4]
        return attempt

    def _on_sample(self, node: str, numbers: list[float | None]) -> None:
        with suppress(ValueError):  # of another version
            self.on_sample(node, sample_of([nan if one is None else one for one in numbers]))

    def _on_line_end(self, line: Line) -> None:
        owner = self._lines.pop(line, None)
        if isinstance(owner, Node) and owner.line is line:
            self._nodes.hung_up(owner)
