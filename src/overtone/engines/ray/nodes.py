"""The nodes of a cluster that a run uses, and their agents."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from overtone.core.labels import is_match
from overtone.engines.ray import agents
from overtone.engines.ray.cluster_view import NodeFacts, capped
from overtone.engines.ray.connection import Line
from overtone.engines.ray.leases import Leases
from overtone.engines.ray.node_agent import Errand
from overtone.engines.ray.state import MOST_FAILURES, Node, name_of

REASON_WITHIN_S = 0.5
"""Seconds to wait for Ray's reason why an agent ended; Ray gives no reason if the node is lost."""


class Follower(Protocol):
    """Receiver of changes of nodes."""

    def on_capacity(self, capacity: Mapping[str, Mapping[str, float]]) -> None:
        """Handle a change of the amounts that trials may use, by node."""

    def on_agent(self, node: Node) -> None:
        """Handle the call of a node's agent, which now takes orders."""

    def on_silence(self, node: Node, error: str) -> None:
        """Handle the loss of a node's agent and its trials; another agent may follow."""

    def on_broken(self, node: Node, error: str, has_others: bool) -> None:
        """Handle a node that cannot be used, since no agent works there.

        Args:
            node: The node.
            error: Error text of its last agent.
            has_others: Whether other nodes can be used.
        """

    def on_notice(self, node: Node, left_s: float) -> None:
        """Handle a node that is drained and leaves in `left_s` seconds."""

    def on_loss(self, node: Node, error: str) -> None:
        """Handle the final loss of a node."""

    def is_needed(self, node: Node) -> bool:
        """Return whether a node has trials, or trials that wait for its agent."""


class Nodes:
    """Tracks the nodes and manages their agents.

    Args:
        follower: Receives the changes of nodes.
        leases: Leases of this run.
        home: The driver's node (Ray's id), which keeps its agent.
        labels: Selector for the nodes to use.
        most: Maximum amounts to use on all nodes together, by resource name.
        idle_s: Seconds without work after which an agent is ended, since the autoscaler does not
            count a node with an agent as idle.
        errand: Returns the errand for the agent of the node of this name.
        wake_for: Turns a function into one for other threads, which runs it in the engine's thread.
        later: Calls a function in the engine's thread after a number of seconds.
    """

    def __init__(
        self,
        follower: Follower,
        leases: Leases,
        home: str,
        labels: Mapping[str, str],
        most: Mapping[str, float],
        idle_s: float,
        errand: Callable[[str], Errand],
        wake_for: Callable[[Callable[[], None]], Callable[[], None]],
        later: Callable[[float, Callable[[], None]], None],
    ) -> None:
        self._follower, self._leases, self._home = follower, leases, home
        self._labels, self._most, self._idle_s = labels, most, idle_s
        self._errand, self._wake_for, self._later = errand, wake_for, later
        self._by_id: dict[str, Node] = {}
        self._left: Mapping[str, Mapping[str, float]] = {}
        self._told: Mapping[str, Mapping[str, float]] | None = None

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, id: str) -> Node | None:
        """Return the node with this id of Ray; None if it is unknown."""
        return self._by_id.get(id)

    def named(self) -> dict[str, Node]:
        """Return all nodes, by name."""
        return {node.name: node for node in self._by_id.values()}

    # --- nodes --------------------------------------------------------------------------

    def know(self, found: Sequence[NodeFacts]) -> tuple[list[Node], list[Node]]:
        """Record the nodes that are alive now.

        Returns:
            The nodes that are gone, and the nodes whose drain has begun.
        """
        usable = {one.id: one for one in found if is_match(self._labels, one.labels)}
        noticed = []
        for facts in usable.values():
            node = self._by_id.get(facts.id)
            if node is None:
                name = name_of(facts.ip, (one.name for one in self._by_id.values()))
                self._by_id[facts.id] = Node(name, facts)
            else:
                was_leaving, node.facts = node.is_leaving, facts
                if node.is_leaving and not was_leaving:
                    noticed.append(node)
        gone = [node for node in self._by_id.values() if node.id not in usable]
        for node in gone:
            node.is_lost = True
        return gone, noticed

    def look(self, found: Sequence[NodeFacts], left: Callable[[], Mapping[str, Mapping[str, float]]]) -> None:
        """Record the current nodes, and handle changes, idle agents and idle leases.

        Args:
            found: The nodes that are alive now.
            left: Called after the nodes are recorded; returns the amounts that this run may use, by
                Ray's id of the node.
        """
        gone, noticed = self.know(found)
        now = time.monotonic()
        self._leases.drop_idle(now - self._idle_s)
        self.allow(left())  # before trials of lost nodes are placed again
        for node in noticed:
            self._follower.on_notice(node, node.facts.leaves_in_s or 0.0)
        for node in gone:
            self._lose(node)
        for node in self._by_id.values():
            if node.is_leaving:
                self._drop_idle_on(node)
            self._dismiss_idle(node, now)
            if node.is_doubtful and node.agent is None and not (node.is_broken or node.is_leaving):
                self.send_agent(node)  # Ray still counts it as alive

    def allow(self, left: Mapping[str, Mapping[str, float]]) -> None:
        """Set the amounts that this run may use, by Ray's id of the node."""
        self._left = left
        self._tell()

    def capacity(self) -> dict[str, dict[str, float]]:
        """Return the amounts that trials may use, by node name."""
        left = {
            node.name: dict(self._left.get(node.id, {})) for node in self._by_id.values() if node.is_usable
        }
        return capped(left, self._most_elsewhere()) if self._most else left

    def _most_elsewhere(self) -> dict[str, float]:
        """Return the maximum amounts for the nodes that stay."""
        leaving = [self._leases.amounts_on(node.id) for node in self._by_id.values() if node.is_leaving]
        return {name: n - sum(held.get(name, 0.0) for held in leaving) for name, n in self._most.items()}

    def usable(self) -> frozenset[str]:
        """Return the nodes (Ray's ids) where trials may be placed, even if other runs use them now."""
        return frozenset([node.id for node in self._by_id.values() if node.is_usable])

    def total(self) -> dict[str, Mapping[str, float]]:
        """Return the total amounts of each node, free or in use, by node name."""
        staying = [node for node in self._by_id.values() if node.is_hopeful and not node.is_leaving]
        return {node.name: node.facts.total for node in staying}

    def _tell(self) -> None:
        capacity = self.capacity()
        if capacity != self._told:
            self._told = capacity
            self._follower.on_capacity(capacity)

    def _lose(self, node: Node) -> None:
        _hang_up(node)
        node.agent = None
        self._follower.on_loss(node, f"node {node.name} was lost")
        self._drop_idle_on(node)
        del self._by_id[node.id]

    def _drop_idle_on(self, node: Node) -> None:
        for lease in self._leases.idle_on([node.id]):
            self._leases.drop(lease)

    # --- agents -------------------------------------------------------------------------

    def send_agent(self, node: Node) -> None:
        """Start an agent on a node, unless the node has one."""
        if node.agent is not None:
            return
        node.idle_since, node.has_called = 0.0, False
        actor, reference = agents.send_agent(node.id, self._errand(node.name))
        node.agent = (actor, reference)
        agents.on_end(
            reference, lambda error: self._wake_for(partial(self._on_agent_end, node, actor, error))()
        )

    def greet(self, line: Line, name: str) -> Node | None:
        """Return the node whose agent has called; None if no agent is expected there."""
        node = self.named().get(name)
        if node is None or node.agent is None:
            return None
        was_doubtful = node.is_doubtful
        node.line, node.failures, node.has_called, node.is_doubtful = line, 0, True, False
        node.error, node.largest = "", None
        if was_doubtful:
            self._tell()
        self._follower.on_agent(node)
        return node

    def hung_up(self, node: Node) -> None:
        """Handle the end of an agent's connection; Ray soon reports whether the whole node is lost."""
        node.line = None
        node.is_doubtful = True
        self._tell()
        self._later(REASON_WITHIN_S, partial(self._on_no_reason, node))

    def _on_no_reason(self, node: Node) -> None:
        if node.is_doubtful and not node.is_lost:
            self._follower.on_silence(node, f"node {node.name} does not answer any more")

    def _on_agent_end(self, node: Node, actor: object, error: str) -> None:
        if node.agent is None or node.agent[0] is not actor:
            return  # the agent was dismissed
        # No trials until another agent has called: Ray notices late that a node is dead.
        node.agent, node.is_doubtful, node.error = None, True, error
        _hang_up(node)
        agents.end(actor)
        if node.is_lost:
            return
        is_loss = agents.means_loss(error)
        if not is_loss:
            node.failures = 1 if node.has_called else node.failures + 1
        self._tell()
        self._follower.on_silence(node, f"the agent of node {node.name} ended: {error}")
        if agents.is_hopeless(error):
            self.give_up(node, error)
        elif node.is_broken:
            self._follower.on_broken(node, error, self.has_hopeful())
        elif not (is_loss or node.is_leaving):  # otherwise the next look drops the node or sends an agent
            self.send_agent(node)

    def give_up(self, node: Node, error: str) -> None:
        """Stop using a node on which no process of this run can work."""
        was_hopeful, node.failures = node.is_hopeful, MOST_FAILURES
        if was_hopeful:
            self._tell()
            self._follower.on_broken(node, error, self.has_hopeful())

    def has_hopeful(self) -> bool:
        """Return whether trials may be placed on any node, now or once an agent has called."""
        return any(node.is_hopeful for node in self._by_id.values())

    def _dismiss_idle(self, node: Node, now: float) -> None:
        if node.id == self._home or node.line is None or self._follower.is_needed(node):
            node.idle_since = 0.0
        elif not node.idle_since:
            node.idle_since = now
        elif self._may_leave(node, now):
            (actor, _), node.agent = node.agent, None
            _hang_up(node)
            agents.end(actor)

    def _may_leave(self, node: Node, now: float) -> bool:
        """Return whether the agent of an idle node may be ended."""
        has_waited = node.is_leaving or now - node.idle_since > self._idle_s
        return has_waited and not self._leases.idle_on([node.id])

    def close(self, give_up_at: float) -> None:
        """Wait for the agents to end their work, and end all agents except that of the driver's node.

        Call it after their connections were closed.
        """
        for node in self._by_id.values():
            if node.agent is None or node.is_lost:
                continue
            actor, reference = node.agent
            # The agent of a doubtful node may never start.
            within_s = 0.0 if node.is_doubtful else max(0.0, give_up_at - time.monotonic())
            has_ended = agents.is_done(reference, within_s)
            if has_ended and node.id == self._home:
                agents.keep_agent(node.id, self._errand(node.name), actor)
            else:
                agents.end(actor)


def _hang_up(node: Node) -> None:
    if node.line is not None:
        node.line.close()
        node.line = None
