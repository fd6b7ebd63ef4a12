"""The trials of a run on a cluster: their leases, processes, orders and ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from overtone.core.job import Job
from overtone.core.messages import (
    NEVER,
    CapacityChanged,
    Cause,
    Ended,
    Event,
    Halt,
    Noticed,
    Proceed,
    Start,
)
from overtone.core.resources import Resources
from overtone.engines.loop import Loop
from overtone.engines.message_check import check
from overtone.engines.ray import agents, memory
from overtone.engines.ray.connection import Line
from overtone.engines.ray.lease import Lease
from overtone.engines.ray.leases import Leases
from overtone.engines.ray.limits import NOTHING, Used
from overtone.engines.ray.node_agent import Errand
from overtone.engines.ray.nodes import Nodes
from overtone.engines.ray.output import Output
from overtone.engines.ray.state import Node, NodePart, RayAttempt
from overtone.errors import MessageError, OvertoneError
from overtone.worker.message_codec import Message
from overtone.worker.protocol import event


class Trials:
    """All trials of a run, from their Start to their end.

    Args:
        job: The Job that the trials run.
        uses_ray: Whether each trial is a separate actor.
        loop: The loop with the clock and the timers.
        leases: The leases of the run.
        output: Writer of the trials' output.
        errand: Returns the errand for a trial's actor on the node of this name.
        wake_for: Turns a function into one for other threads, which runs it in the engine's thread.
        results: Counter of results by node name.

    Attributes:
        events: Events that were not polled yet.
        nodes: The nodes of the cluster; set before the first trial starts.
    """

    nodes: Nodes

    def __init__(
        self,
        job: Job,
        uses_ray: bool,
        loop: Loop,
        leases: Leases,
        output: Output,
        errand: Callable[[str], Errand],
        wake_for: Callable[[Callable[[], None]], Callable[[], None]],
        results: Counter[str],
    ) -> None:
        self._results = results
        self.events: list[Event] = []
        self._job, self._uses_ray, self._loop = job, uses_ray, loop
        self._leases, self._output = leases, output
        self._errand, self._wake_for = errand, wake_for
        self._attempts: dict[str, RayAttempt] = {}
        self._asks: dict[str, RayAttempt] = {}  # without a lease
        self._waiting: dict[Node, list[NodePart]] = {}
        self._used = Used(job.folder) if uses_ray and job.limits is not None else None

    def greet(self, line: Line, trial_id: str, number: int) -> RayAttempt | None:
        """Return the attempt whose actor has called; None if it has ended meanwhile."""
        attempt = self._attempts.get(trial_id)
        if attempt is None or attempt.start.attempt != number:
            return None
        head = attempt.parts[0]
        head.line = line
        for order in head.unsent:
            line.put(order)
        head.unsent.clear()
        return attempt

    def __len__(self) -> int:
        """Return the number of trials that have not ended."""
        return len(self._attempts)

    def running(self) -> Iterator[tuple[str, str]]:
        """Yield (node's name, trial's name) of the trials that were sent to a node."""
        for attempt in self._attempts.values():
            yield from ((part.node.name, attempt.name) for part in attempt.parts if part.is_sent)

    def close(self) -> None:
        """End all trials."""
        for attempt in self._attempts.values():
            attempt.kill()
        if self._used is not None:
            self._used.keep()

    # --- nodes -----------------------------------------------------------------------

    def on_capacity(self, capacity: Mapping[str, Mapping[str, float]]) -> None:
        self.events.append(CapacityChanged(self._loop.now(), capacity))

    def on_agent(self, node: Node) -> None:
        for part in self._waiting.pop(node, []):
            self._send(part)

    def on_silence(self, node: Node, error: str) -> None:
        largest = node.largest if memory.is_shortage(node.error) else None
        for attempt in self._on(node):
            if any(part.is_sent and part.node is node and part.actor is None for part in attempt.parts):
                if largest is not None and largest[:2] == (attempt.start.trial_id, attempt.start.attempt):
                    self._end(attempt, "killed", largest[2])  # Ray ended the agent instead of this trial
                else:
                    self._end(attempt, "lost", error)

    def on_broken(self, node: Node, error: str, has_others: bool) -> None:
        if not has_others and self._on(node):
            raise OvertoneError(f"no node of the cluster can run trials; {node.name} cannot: {error}")
        self._output.say(f"node {node.name} is not used any more: {error}")
        for part in self._waiting.pop(node, []):
            self._end(part.attempt, "lost", _refusal(node, error))

    def on_notice(self, node: Node, left_s: float) -> None:
        when = f"in {left_s:.0f} s" if left_s < NEVER else "soon"
        self._output.say(
            f"node {node.name} is drained and goes away {when}: no trial starts there, and trials that run "
            "there continue elsewhere once they have saved"
        )
        for attempt in self._on(node):
            now, start = self._loop.now(), attempt.start
            self.events.append(Noticed(now, start.trial_id, start.attempt, left_s, moves=True))

    def on_loss(self, node: Node, error: str) -> None:
        for attempt in self._on(node):
            self._end(attempt, "lost", error)
        self._waiting.pop(node, None)

    def is_needed(self, node: Node) -> bool:
        return bool(self._waiting.get(node) or self._on(node))

    def _on(self, node: Node) -> list[RayAttempt]:
        """Return the attempts that have a bundle on a node."""
        return [
            attempt
            for attempt in self._attempts.values()
            if any(part.node is node for part in attempt.parts)
            or (attempt.lease is not None and node.id in attempt.lease.nodes)
        ]

    # --- starting --------------------------------------------------------------------

    def start(self, start: Start) -> None:
        """Run a trial as soon as Ray grants its lease."""
        name = start.name or f"{self._job.name}_{start.trial_id}"
        attempt = self._attempts[start.trial_id] = RayAttempt(start, name)
        by_name = self.nodes.named()
        found = [by_name.get(one) for one in start.placement.nodes]
        nodes = [node for node in found if node is not None and node.is_usable]
        if len(nodes) < len(found):
            self._end(attempt, "lost", f"node {', '.join(start.placement.nodes)} is not there any more")
            return
        attempt.place(nodes)
        ids = tuple([node.id for node in nodes])
        idle = self._leases.take(start.resources, ids)
        if idle is not None:
            self._give(attempt, idle)
            return
        for node in set(nodes):
            self._leases.make_room(node.id, node.facts.total, start.resources, ids)
        self._leases.ask(attempt, start.resources, ids)
        self._asks[start.trial_id] = attempt
        if not self._uses_ray:
            for part in attempt.parts:
                self.nodes.send_agent(part.node)  # the agent prepares while Ray makes the lease

    def asked(self) -> Counter[Resources]:
        """Return the number of trials of each shape that wait for a requested lease."""
        return Counter([attempt.start.resources for attempt in self._asks.values()])

    def take_granted(self) -> None:
        """Use the leases that Ray has granted meanwhile, and end the trials that it refused."""
        for owner, why in self._leases.refused():
            self._end(owner, "raised", why)
        for owner, lease in self._leases.granted():
            attempt: RayAttempt | None = owner
            if attempt is None:  # on a new node, leases that showed demand come before a request
                attempt = self._asking_for(lease)
                if attempt is not None:
                    self._leases.forget(attempt)
            if attempt is not None and self._asks.get(attempt.start.trial_id) is attempt:
                self._give(attempt, lease)
            else:
                self._put_back(lease)

    def _put_back(self, lease: Lease) -> None:
        """Keep a lease, or give it to a trial that waits for such a lease, perhaps not requested yet."""
        if not self._leases.put_back(lease):
            return
        attempt = self._asking_for(lease)
        if attempt is not None:
            self._leases.use(lease)
            self._leases.forget(attempt)
            self._give(attempt, lease)

    def _asking_for(self, lease: Lease) -> RayAttempt | None:
        """Return the first trial that waits for this shape on the lease's nodes, or on any others.

        None if no trial waits for this shape, or if trials may not be placed on the lease's nodes.
        """
        nodes = map(self.nodes.get, filter(None, lease.nodes))
        if not all(node is not None and node.is_usable for node in nodes):
            return None
        alike = [one for one in self._asks.values() if one.start.resources == lease.shape]
        return next((one for one in alike if self._suits(lease, one)), alike[0] if alike else None)

    def _suits(self, lease: Lease, attempt: RayAttempt) -> bool:
        """Return whether a lease has the shape and the nodes of an attempt."""
        by_name = self.nodes.named()
        nodes = [by_name[one].id if one in by_name else "" for one in attempt.start.placement.nodes]
        return lease.fits(attempt.start.resources, nodes)

    def _give(self, attempt: RayAttempt, lease: Lease) -> None:
        attempt.lease = lease
        self._asks.pop(attempt.start.trial_id, None)
        found = [self.nodes.get(one) for one in lease.nodes if one]
        nodes = [node for node in found if node is not None] or [attempt.parts[0].node]
        if None in found:
            self._end(attempt, "lost", "its node was lost")
            return
        by_id = {node.id: node for node in nodes}
        attempt.place([by_id.get(one, nodes[0]) for one in lease.nodes])
        if self._uses_ray:
            self._send_actor(attempt.parts[0], lease)
            return
        for part in attempt.parts:
            if part.node.line is not None:
                self._send(part)
            elif part.node.is_broken:
                self._end(attempt, "lost", _refusal(part.node, part.node.error))
                return
            else:
                self._waiting.setdefault(part.node, []).append(part)
                self.nodes.send_agent(part.node)

    def _send(self, part: NodePart) -> None:
        """Make the agent of a node start the processes of an attempt there."""
        assert part.node.line is not None
        part.line, part.is_sent = part.node.line, True
        self._put(part, part.equipped())

    def _send_actor(self, part: NodePart, lease: Lease) -> None:
        part.is_sent, attempt = True, part.attempt
        part.actor, reference = agents.send_trial(
            lease, self._errand(part.node.name), attempt.start, attempt.name,
            self._used.of(attempt.start.index) if self._used is not None else NOTHING,
        )  # fmt: skip
        agents.on_end(reference, lambda error: self._wake_for(partial(self._on_actor_end, part, error))())

    def _on_actor_end(self, part: NodePart, error: str) -> None:
        if part.line is not None and part.line.is_open:
            # its last messages may still arrive
            self._loop.at(self._loop.now() + 0.2, partial(self._on_actor_gone, part, error))
        else:
            self._on_actor_gone(part, error)

    def _on_actor_gone(self, part: NodePart, error: str) -> None:
        attempt = part.attempt
        if self._attempts.get(attempt.start.trial_id) is attempt:
            cause: Cause = "lost" if agents.means_loss(error) else "killed"
            if agents.is_hopeless(error):
                self.nodes.give_up(part.node, error)
                cause = "lost"
            self._end(attempt, cause, attempt.was_killed or error or "its process ended")

    # --- orders ----------------------------------------------------------------------

    def pass_on(self, order: Proceed | Halt) -> None:
        """Pass an order on to all processes of an attempt."""
        attempt = self._attempts.get(order.trial_id)
        if attempt is None or attempt.start.attempt != order.attempt:
            return  # it ended meanwhile
        if isinstance(order, Halt) and not all(part.is_sent for part in attempt.parts):
            self._end(attempt, "halted")
            return
        for part in attempt.parts:
            self._put(part, order)
        attempt.was_killed = ""
        if isinstance(order, Halt) and self._uses_ray:
            grace_s = min(one for one in (self._job.grace_s, order.grace_s) if one is not None)
            attempt.was_killed = f"did not halt within {grace_s:g} s"
            self._loop.at(self._loop.now() + grace_s, partial(self._end_actor, attempt))

    def _end_actor(self, attempt: RayAttempt) -> None:
        if attempt.was_killed and self._attempts.get(attempt.start.trial_id) is attempt:
            attempt.kill()

    def _put(self, part: NodePart, order: Start | Proceed | Halt) -> None:
        if part.line is None:
            part.unsent.append(order)
            return
        try:
            part.line.put(order)
        except Exception as error:
            text = f"its config cannot be sent to its process: {type(error).__name__}: {error}"
            self._end(part.attempt, "raised", text)

    # --- messages --------------------------------------------------------------------

    def hear(self, node: Node, messages: Sequence[Message]) -> None:
        """Handle the messages of a node's agent."""
        for message in messages:
            attempt = self._attempts.get(message[1])
            if message[0] == "output":
                self._output.show(message, node.name)
            elif message[0] == "largest":
                node.largest = message[1:]
            elif attempt is not None and attempt.start.attempt == message[2]:
                for part in attempt.parts:
                    if part.node is node:
                        self._take(part, message)
                        break

    def hear_actor(self, attempt: RayAttempt, messages: Sequence[Message]) -> None:
        """Handle the messages of a trial's actor; after the trial's end, only its output."""
        part = attempt.parts[0]
        for message in messages:
            if message[:2] == ("output", attempt.start.trial_id):
                self._output.show(message, part.node.name)
            elif self._attempts.get(attempt.start.trial_id) is attempt:
                self._take(part, message)

    def _take(self, part: NodePart, message: Message) -> None:
        """Handle a message about a trial; an invalid message ends the trial."""
        attempt, kind, where = part.attempt, message[0], part.node.name
        try:
            check(message, attempt.start)
            if kind == "used":
                if self._used is not None:
                    self._used.take(attempt.start.index, message[3:5])
                return
            if kind == "no_room":
                self._output.say(f"trial {message[1]}: {message[3]}")
                return
            found = event(message, self._loop.now(), where)
            if part is attempt.parts[0]:
                attempt.results.take(found)
            elif not isinstance(found, (Ended, Noticed)):
                return  # the first part reports for the attempt
        except MessageError as error:
            self._end(
                attempt, "killed", f"its process was killed, since it sent what no trial sends: {error}"
            )
            return
        if isinstance(found, Ended):
            part.is_sent = False
            if part is not attempt.parts[0] and found.cause in ("returned", "halted"):
                attempt.parts.remove(part)
                return
            self._release(attempt)
        elif kind == "reported":
            self._results[where] += 1
        elif kind == "save_failed":
            attempt.was_killed = ""  # the trial is parked until its next order
        self.events.append(found)

    def _end(self, attempt: RayAttempt, cause: Cause, error: str = "") -> None:
        start = attempt.start
        if self._attempts.get(start.trial_id) is not attempt:
            return
        self._asks.pop(start.trial_id, None)
        for waiting in self._waiting.values():
            waiting[:] = [part for part in waiting if part.attempt is not attempt]
        self._release(attempt, cause == "lost")
        self.events.append(Ended(self._loop.now(), start.trial_id, start.attempt, cause, error))

    def _release(self, attempt: RayAttempt, is_lost: bool = False) -> None:
        """Forget an attempt that has ended, kill what is left of it, and give its lease back."""
        del self._attempts[attempt.start.trial_id]
        attempt.kill()
        if attempt.lease is None:
            self._leases.forget(attempt)
        elif is_lost or self._uses_ray:
            self._leases.drop(attempt.lease)  # which also ends tasks and actors that the trial started there
        else:
            self._put_back(attempt.lease)


def _refusal(node: Node, error: str) -> str:
    return f"node {node.name} cannot run it: {error}"
