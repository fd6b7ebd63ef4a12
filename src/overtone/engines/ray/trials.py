"""The trials of a run on a cluster: their leases, processes, orders and ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from overtone.engines.ray import gangs, memory
from overtone.engines.ray.actors import Actors
from overtone.engines.ray.connection import Line
from overtone.engines.ray.lease import Lease
from overtone.engines.ray.leases import Leases
from overtone.engines.ray.node_agent import Errand
from overtone.engines.ray.nodes import Nodes
from overtone.engines.ray.order_delivery import Delivery, refusal
from overtone.engines.ray.output import Output
from overtone.engines.ray.state import Node, NodePart, RayAttempt
from overtone.errors import MessageError, OvertoneError
from overtone.worker.message_codec import Message
from overtone.worker.protocol import event

NO_EVENTS = frozenset({"used", "no_room"}) | gangs.MESSAGES

GONE_WITHIN_S = 5.0
"""Seconds that the nodes of an attempt that is over get to say that its processes there are gone."""


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
        on_sample: Callable[[str, list[float | None]], None] = lambda node, numbers: None,
    ) -> None:
        self._on_sample = on_sample
        self._results = results
        self.events: list[Event] = []
        self._job, self._uses_ray, self._loop = job, uses_ray, loop
        self._leases, self._output = leases, output
        self._attempts: dict[str, RayAttempt] = {}
        self._asks: dict[str, RayAttempt] = {}  # without a lease
        folder = job.folder if uses_ray and job.limits is not None else None
        self._actors = Actors(
            folder, loop, errand, wake_for, lambda node, error: self.nodes.give_up(node, error), self._end
        )
        self._delivery = Delivery(lambda node: self.nodes.send_agent(node), self._end)
        self._gangs = gangs.Gangs(lambda: self.nodes.named(), self._delivery.put)

    def greet(self, line: Line, trial_id: str, number: int) -> RayAttempt | None:
        """Return the attempt whose actor has called; None if it has ended meanwhile."""
        attempt = self._attempts.get(trial_id)
        if attempt is None or attempt.start.attempt != number:
            return None
        attempt.head.line = line
        self._delivery.put_rest(attempt.head)
        return attempt

    def __len__(self) -> int:
        """Return the number of trials that have not ended."""
        return len(self._attempts)

    def running(self) -> Iterator[tuple[str, str]]:
        """Yield (node's name, trial's name) of the trials that were sent to a node."""
        for attempt in self._attempts.values():
            yield from ((part.node.name, attempt.name) for part in attempt.parts if part.is_sent)

    def processes(self, trial_id: str) -> list[tuple[Node, int]]:
        """Return the node and the pid of each process of a trial that runs, of head and ranks."""
        attempt = self._attempts.get(trial_id)
        parts = list(attempt.parts) if attempt else []
        return [(part.node, pid) for part in parts for pid in (part.pid, *part.pids) if pid]

    def close(self) -> None:
        """End all trials."""
        for attempt in self._attempts.values():
            attempt.kill()
        self._actors.close()

    # --- nodes -----------------------------------------------------------------------

    def on_capacity(self, capacity: Mapping[str, Mapping[str, float]]) -> None:
        self.events.append(CapacityChanged(self._loop.now(), capacity))

    def on_agent(self, node: Node) -> None:
        self._delivery.on_agent(node)

    def on_silence(self, node: Node, error: str) -> None:
        largest = node.largest if memory.is_shortage(node.error) else None
        for attempt in self._on(node):
            part = attempt.part_on(node)
            if part is not None and part.is_sent:
                part.is_sent = False
                if largest is not None and largest[:2] == (attempt.start.trial_id, attempt.start.attempt):
                    self._end(attempt, "killed", largest[2])  # Ray ended the agent instead of this trial
                else:
                    self._end(attempt, "lost", error)

    def on_broken(self, node: Node, error: str, has_others: bool) -> None:
        if not has_others and self._on(node):
            raise OvertoneError(f"no node of the cluster can run trials; {node.name} cannot: {error}")
        self._output.say(f"node {node.name} is not used any more: {error}")
        for part in self._delivery.forget(node):
            self._end(part.attempt, "lost", refusal(node, error))

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
        self._delivery.forget(node)
        for attempt in self._on(node):
            for part in attempt.parts:
                part.is_sent = part.is_sent and part.node is not node
            self._end(attempt, "lost", error)

    def is_needed(self, node: Node) -> bool:
        return bool(self._delivery.awaiting(node) or self._on(node))

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
            for node in dict.fromkeys(nodes):
                self.nodes.send_agent(node)  # the agent prepares while Ray makes the lease

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
        nodes = [node for node in found if node is not None] or [attempt.head.node]
        if None in found:
            self._end(attempt, "lost", "its node was lost")
            return
        by_id = {node.id: node for node in nodes}
        attempt.place([by_id.get(one, nodes[0]) for one in lease.nodes])
        if self._uses_ray:
            self._actors.send(attempt)
        else:
            self._delivery.put(attempt.head, attempt.equipped())

    # --- orders ----------------------------------------------------------------------

    def pass_on(self, order: Proceed | Halt) -> None:
        """Pass an order on to the head of an attempt."""
        attempt = self._attempts.get(order.trial_id)
        if attempt is None or attempt.start.attempt != order.attempt:
            return  # it ended meanwhile
        if isinstance(order, Halt) and not attempt.head.is_sent:
            self._end(attempt, "halted")
            return
        self._delivery.put(attempt.head, order)
        attempt.was_killed = ""
        if isinstance(order, Halt) and self._uses_ray:
            self._actors.on_halt(attempt, order, self._job.grace_s)

    # --- messages --------------------------------------------------------------------

    def hear(self, node: Node, messages: Sequence[Message]) -> None:
        """Handle the messages of a node's agent."""
        for message in messages:
            attempt = self._attempts.get(message[1])
            if message[0] == "output":
                self._output.show(message, node.name, not node.sees_disk)
            elif message[0] == "largest":
                node.largest = message[1:]
            elif attempt is not None and attempt.start.attempt == message[2]:
                part = attempt.part_on(node)
                if part is not None:
                    self._take(part, message)
            elif message[0] == "machine":
                self._on_sample(node.name, message[2])

    def hear_actor(self, attempt: RayAttempt, messages: Sequence[Message]) -> None:
        """Handle the messages of a trial's actor; after the trial's end, only its output."""
        part = attempt.head
        for message in messages:
            if message[:2] == ("output", attempt.start.trial_id):
                self._output.show(message, part.node.name, not part.node.sees_disk)
            elif self._attempts.get(attempt.start.trial_id) is attempt:
                self._take(part, message)

    def _take(self, part: NodePart, message: Message) -> None:
        """Handle a message about a trial; an invalid message ends the trial."""
        attempt, kind, where = part.attempt, message[0], part.node.name
        try:
            check(message, attempt.start)
            if kind in NO_EVENTS:
                self._note(part, message)
                return
            found = event(message, self._loop.now(), where)
            if isinstance(found, Ended):
                part.is_sent = False
                self._over(attempt, found)
                return
            if attempt.ended is not None:
                return
            if part is attempt.head:
                attempt.results.take(found)
            elif not isinstance(found, Noticed):
                raise MessageError(f"{kind!r} of a rank")
        except MessageError as error:
            self._end(
                attempt, "killed", f"its process was killed, since it sent what no trial sends: {error}"
            )
            return
        if kind == "reported":
            self._results[where] += 1
        elif kind == "started":
            part.pid = message[3]
        elif kind == "save_failed":
            attempt.was_killed = ""  # the trial is parked until its next order
        self.events.append(found)

    def _note(self, part: NodePart, message: Message) -> None:
        """Handle a message that is not an event of the trial."""
        if message[0] == "used":
            self._actors.take_used(part.attempt.start.index, message)
        elif message[0] == "no_room":
            self._output.say(f"trial {message[1]}: {message[3]}")
        elif part.attempt.ended is None:
            self._gangs.take(part, message)

    # --- ends ------------------------------------------------------------------------

    def _end(self, attempt: RayAttempt, cause: Cause, error: str = "") -> None:
        """End an attempt; the loss of a node replaces the failure by which it showed elsewhere."""
        start = attempt.start
        if self._attempts.get(start.trial_id) is not attempt:
            return
        ended = Ended(self._loop.now(), start.trial_id, start.attempt, cause, error)
        if cause == "lost":
            attempt.is_lost = True
            if attempt.ended is not None and attempt.ended.cause in ("raised", "killed"):
                attempt.ended = ended
        self._over(attempt, ended)

    def _over(self, attempt: RayAttempt, ended: Ended) -> None:
        """Kill what is left of an attempt that is over; tell its end when all its nodes have answered."""
        is_alone = len(attempt.parts) == 1
        if attempt.ended is None:
            attempt.ended = ended
            attempt.kill()
            self._delivery.cancel(attempt)
            if not is_alone:
                self._loop.at(self._loop.now() + GONE_WITHIN_S, partial(self._on_no_answer, attempt))
        if is_alone or not any(part.is_sent for part in attempt.parts):
            self._release(attempt)

    def _on_no_answer(self, attempt: RayAttempt) -> None:
        silent = [part for part in attempt.parts if part.is_sent]
        for part in silent:
            part.is_sent = False
            self._end(attempt, "lost", f"node {part.node.name} does not answer any more")

    def _release(self, attempt: RayAttempt) -> None:
        """Forget an attempt whose processes are gone, give its lease back, and tell its end."""
        assert attempt.ended is not None
        del self._attempts[attempt.start.trial_id]
        self._asks.pop(attempt.start.trial_id, None)
        if attempt.lease is None:
            self._leases.forget(attempt)
        elif attempt.is_lost or self._uses_ray:
            self._leases.drop(attempt.lease)  # which also ends tasks and actors that the trial started there
        else:
            self._put_back(attempt.lease)
        self.events.append(replace(attempt.ended, time=self._loop.now()))
