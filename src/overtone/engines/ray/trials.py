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
from overtone.engines.ray.state import Node, Trial
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
        self._trials: dict[str, Trial] = {}
        self._asks: dict[str, Trial] = {}  # without a lease
        self._waiting: dict[Node, list[Trial]] = {}
        self._used = Used(job.folder) if uses_ray and job.limits is not None else None

    def greet(self, line: Line, trial_id: str, attempt: int) -> Trial | None:
        """Return the trial whose actor has called; None if the trial has ended meanwhile."""
        trial = self._trials.get(trial_id)
        if trial is None or trial.start.attempt != attempt:
            return None
        trial.line = line
        for order in trial.unsent:
            line.put(order)
        trial.unsent.clear()
        return trial

    def __len__(self) -> int:
        """Return the number of trials that have not ended."""
        return len(self._trials)

    def running(self) -> Iterator[tuple[str, str]]:
        """Yield (node's name, trial's name) of the trials that were sent to a node."""
        for trial in self._trials.values():
            if trial.is_sent and trial.node is not None:
                yield trial.node.name, trial.name

    def close(self) -> None:
        """End the trials' actors; trials below agents end with the agents."""
        for trial in self._trials.values():
            if trial.actor is not None:
                agents.end(trial.actor)
        if self._used is not None:
            self._used.keep()

    # --- nodes -----------------------------------------------------------------------

    def on_capacity(self, capacity: Mapping[str, Mapping[str, float]]) -> None:
        self.events.append(CapacityChanged(self._loop.now(), capacity))

    def on_agent(self, node: Node) -> None:
        for trial in self._waiting.pop(node, []):
            self._send(trial)

    def on_silence(self, node: Node, error: str) -> None:
        largest = node.largest if memory.is_shortage(node.error) else None
        for trial in self._on(node):
            if trial.is_sent and trial.node is node and trial.actor is None:
                if largest is not None and largest[:2] == (trial.start.trial_id, trial.start.attempt):
                    self._end(trial, "killed", largest[2])  # Ray ended the agent instead of this trial
                else:
                    self._end(trial, "lost", error)

    def on_broken(self, node: Node, error: str, has_others: bool) -> None:
        if not has_others and self._on(node):
            raise OvertoneError(f"no node of the cluster can run trials; {node.name} cannot: {error}")
        self._output.say(f"node {node.name} is not used any more: {error}")
        for trial in self._waiting.pop(node, []):
            self._end(trial, "lost", _refusal(node, error))

    def on_notice(self, node: Node, left_s: float) -> None:
        when = f"in {left_s:.0f} s" if left_s < NEVER else "soon"
        self._output.say(
            f"node {node.name} is drained and goes away {when}: no trial starts there, and trials that run "
            "there continue elsewhere once they have saved"
        )
        for trial in self._on(node):
            now, start = self._loop.now(), trial.start
            self.events.append(Noticed(now, start.trial_id, start.attempt, left_s, moves=True))

    def on_loss(self, node: Node, error: str) -> None:
        for trial in self._on(node):
            self._end(trial, "lost", error)
        self._waiting.pop(node, None)

    def is_needed(self, node: Node) -> bool:
        return bool(self._waiting.get(node) or self._on(node))

    def _on(self, node: Node) -> list[Trial]:
        """Return the trials that have a bundle on a node."""
        return [
            trial
            for trial in self._trials.values()
            if trial.node is node or (trial.lease is not None and node.id in trial.lease.nodes)
        ]

    # --- starting --------------------------------------------------------------------

    def start(self, start: Start) -> None:
        """Run a trial as soon as Ray grants its lease."""
        name = start.name or f"{self._job.name}_{start.trial_id}"
        trial = self._trials[start.trial_id] = Trial(start, name)
        by_name = self.nodes.named()
        nodes = [by_name.get(one) for one in start.placement.nodes]
        if any(one is None or not one.is_usable for one in nodes):
            self._end(trial, "lost", f"node {', '.join(start.placement.nodes)} is not there any more")
            return
        ids = tuple([node.id for node in nodes if node is not None])
        idle = self._leases.take(start.resources, ids)
        if idle is not None:
            self._give(trial, idle)
            return
        trial.node = nodes[0]
        for node in {one for one in nodes if one is not None}:
            self._leases.make_room(node.id, node.facts.total, start.resources, ids)
        self._leases.ask(trial, start.resources, ids)
        self._asks[start.trial_id] = trial
        if trial.node is not None and not self._uses_ray:
            self.nodes.send_agent(trial.node)  # the agent prepares while Ray makes the lease

    def asked(self) -> Counter[Resources]:
        """Return the number of trials of each shape that wait for a requested lease."""
        return Counter([trial.start.resources for trial in self._asks.values()])

    def take_granted(self) -> None:
        """Use the leases that Ray has granted meanwhile, and end the trials that it refused."""
        for owner, why in self._leases.refused():
            self._end(owner, "raised", why)
        for owner, lease in self._leases.granted():
            trial: Trial | None = owner
            if trial is None:  # on a new node, leases that showed demand come before a request
                trial = self._asking_for(lease)
                if trial is not None:
                    self._leases.forget(trial)
            if trial is not None and self._asks.get(trial.start.trial_id) is trial:
                self._give(trial, lease)
            else:
                self._put_back(lease)

    def _put_back(self, lease: Lease) -> None:
        """Keep a lease, or give it to a trial that waits for such a lease, perhaps not requested yet."""
        if not self._leases.put_back(lease):
            return
        trial = self._asking_for(lease)
        if trial is not None:
            self._leases.use(lease)
            self._leases.forget(trial)
            self._give(trial, lease)

    def _asking_for(self, lease: Lease) -> Trial | None:
        """Return the first trial that waits for this shape on the lease's nodes, or on any others.

        None if no trial waits for this shape, or if trials may not be placed on the lease's nodes.
        """
        nodes = map(self.nodes.get, filter(None, lease.nodes))
        if not all(node is not None and node.is_usable for node in nodes):
            return None
        alike = [one for one in self._asks.values() if one.start.resources == lease.shape]
        return next((one for one in alike if self._suits(lease, one)), alike[0] if alike else None)

    def _suits(self, lease: Lease, trial: Trial) -> bool:
        """Return whether a lease has the shape and the nodes of a trial."""
        by_name = self.nodes.named()
        nodes = [by_name[one].id if one in by_name else "" for one in trial.start.placement.nodes]
        return lease.fits(trial.start.resources, nodes)

    def _give(self, trial: Trial, lease: Lease) -> None:
        trial.lease = lease
        self._asks.pop(trial.start.trial_id, None)
        found = [self.nodes.get(one) for one in lease.nodes if one]
        node = found[0] if found else trial.node
        if node is None or None in found:
            self._end(trial, "lost", "its node was lost")
            return
        trial.node = node
        if self._uses_ray:
            self._send_actor(trial, lease)
        elif node.line is not None:
            self._send(trial)
        elif node.is_broken:
            self._end(trial, "lost", _refusal(node, node.error))
        else:
            self._waiting.setdefault(node, []).append(trial)
            self.nodes.send_agent(node)

    def _send(self, trial: Trial) -> None:
        """Make the agent of a trial's node start the trial."""
        assert trial.node is not None
        assert trial.node.line is not None
        trial.line, trial.is_sent = trial.node.line, True
        self._put(trial, trial.equipped())

    def _send_actor(self, trial: Trial, lease: Lease) -> None:
        assert trial.node is not None
        trial.is_sent = True
        trial.actor, reference = agents.send_trial(
            lease, self._errand(trial.node.name), trial.start, trial.name,
            self._used.of(trial.start.index) if self._used is not None else NOTHING,
        )  # fmt: skip
        agents.on_end(reference, lambda error: self._wake_for(partial(self._on_actor_end, trial, error))())

    def _on_actor_end(self, trial: Trial, error: str) -> None:
        if trial.line is not None and trial.line.is_open:
            # its last messages may still arrive
            self._loop.at(self._loop.now() + 0.2, partial(self._on_actor_gone, trial, error))
        else:
            self._on_actor_gone(trial, error)

    def _on_actor_gone(self, trial: Trial, error: str) -> None:
        if self._trials.get(trial.start.trial_id) is trial:
            cause: Cause = "lost" if agents.means_loss(error) else "killed"
            if agents.is_hopeless(error) and trial.node is not None:
                self.nodes.give_up(trial.node, error)
                cause = "lost"
            self._end(trial, cause, trial.was_killed or error or "its process ended")

    # --- orders ----------------------------------------------------------------------

    def pass_on(self, order: Proceed | Halt) -> None:
        """Pass an order on to a trial."""
        trial = self._trials.get(order.trial_id)
        if trial is None or trial.start.attempt != order.attempt:
            return  # it ended meanwhile
        if isinstance(order, Halt) and not trial.is_sent:
            self._end(trial, "halted")
            return
        self._put(trial, order)
        if isinstance(order, Halt) and trial.actor is not None:
            given = (self._job.grace_s, order.grace_s)
            grace_s = min(one for one in given if one is not None)
            trial.was_killed = f"did not halt within {grace_s:g} s"
            self._loop.at(self._loop.now() + grace_s, partial(self._end_actor, trial))
        elif trial.actor is not None:
            trial.was_killed = ""

    def _end_actor(self, trial: Trial) -> None:
        if trial.was_killed and self._trials.get(trial.start.trial_id) is trial:
            agents.end(trial.actor)

    def _put(self, trial: Trial, order: Start | Proceed | Halt) -> None:
        if trial.line is None:
            trial.unsent.append(order)
            return
        try:
            trial.line.put(order)
        except Exception as error:
            text = f"its config cannot be sent to its process: {type(error).__name__}: {error}"
            self._kill(trial)
            self._end(trial, "raised", text)

    def _kill(self, trial: Trial) -> None:
        if trial.actor is not None:
            agents.end(trial.actor)
        elif trial.line is not None:
            trial.line.put(("kill", trial.start.trial_id))

    # --- messages --------------------------------------------------------------------

    def hear(self, node: Node, messages: Sequence[Message]) -> None:
        """Handle the messages of a node's agent."""
        for message in messages:
            trial = self._trials.get(message[1])
            if message[0] == "output":
                self._output.show(message, node.name)
            elif message[0] == "largest":
                node.largest = message[1:]
            elif trial is not None and trial.start.attempt == message[2] and trial.node is node:
                self._take(trial, message)

    def hear_actor(self, trial: Trial, messages: Sequence[Message]) -> None:
        """Handle the messages of a trial's actor; after the trial's end, only its output."""
        for message in messages:
            if message[:2] == ("output", trial.start.trial_id):
                self._output.show(message, trial.node.name if trial.node is not None else "")
            elif self._trials.get(trial.start.trial_id) is trial:
                self._take(trial, message)

    def _take(self, trial: Trial, message: Message) -> None:
        """Handle a message about a trial; an invalid message ends the trial."""
        kind, where = message[0], trial.node.name if trial.node is not None else ""
        try:
            check(message, trial.start)
            if kind == "used":
                if self._used is not None:
                    self._used.take(trial.start.index, message[3:5])
                return
            if kind == "no_room":
                self._output.say(f"trial {message[1]}: {message[3]}")
                return
            found = event(message, self._loop.now(), where)
            trial.results.take(found)
        except MessageError as error:
            self._end(trial, "killed", f"its process was killed, since it sent what no trial sends: {error}")
            return
        if isinstance(found, Ended):
            self._on_ended(trial)
        elif kind == "reported":
            self._results[where] += 1
        elif kind == "save_failed":
            trial.was_killed = ""  # the trial is parked until its next order
        self.events.append(found)

    def _on_ended(self, trial: Trial) -> None:
        del self._trials[trial.start.trial_id]
        if trial.lease is None:
            return
        if trial.actor is None:
            self._put_back(trial.lease)
        else:
            agents.end(trial.actor)
            self._leases.drop(trial.lease)  # which also ends tasks and actors that the trial started there

    def _end(self, trial: Trial, cause: Cause, error: str = "") -> None:
        start = trial.start
        if self._trials.get(start.trial_id) is not trial:
            return
        del self._trials[start.trial_id]
        self._asks.pop(start.trial_id, None)
        for waiting in self._waiting.values():
            if trial in waiting:
                waiting.remove(trial)
        if trial.is_sent and trial.line is not None and trial.line.is_open:
            self._kill(trial)
        elif trial.actor is not None:
            agents.end(trial.actor)
        if trial.lease is None:
            self._leases.forget(trial)
        elif cause == "lost" or trial.actor is not None:
            self._leases.drop(trial.lease)
        else:
            self._put_back(trial.lease)
        self.events.append(Ended(self._loop.now(), start.trial_id, start.attempt, cause, error))


def _refusal(node: Node, error: str) -> str:
    return f"node {node.name} cannot run it: {error}"
