"""Delivery of orders to the parts of attempts, some of which wait until their node's agent has called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overtone.core.messages import Cause
from overtone.engines.ray.state import Node, NodePart, RayAttempt


class Delivery:
    """Sends orders to parts.

    Args:
        send_agent: Starts an agent on a node, unless the node has one.
        end: Ends an attempt to which an order cannot be sent, given the cause and the error.
    """

    def __init__(
        self, send_agent: Callable[[Node], None], end: Callable[[RayAttempt, Cause, str], None]
    ) -> None:
        self._send_agent, self._end = send_agent, end
        self._waiting: dict[Node, list[NodePart]] = {}

    def put(self, part: NodePart, order: Any) -> None:
        """Send an order to a part, now or when its actor or its node's agent has called."""
        if part.line is None:
            part.unsent.append(order)
            if part.actor is None and len(part.unsent) == 1:
                self._begin(part)
            return
        try:
            part.line.put(order)
        except Exception as error:
            text = f"its config cannot be sent to its process: {type(error).__name__}: {error}"
            self._end(part.attempt, "raised", text)

    def put_rest(self, part: NodePart) -> None:
        """Send the orders that have waited for the part's connection."""
        orders, part.unsent = part.unsent, []
        for order in orders:
            self.put(part, order)

    def on_agent(self, node: Node) -> None:
        """Send the orders that have waited for a node's agent."""
        for part in self._waiting.pop(node, []):
            self._begin(part)

    def awaiting(self, node: Node) -> list[NodePart]:
        """Return the parts that wait for a node's agent."""
        return self._waiting.get(node, [])

    def forget(self, node: Node) -> list[NodePart]:
        """Let no part wait for a node's agent any more; return those that did."""
        return self._waiting.pop(node, [])

    def cancel(self, attempt: RayAttempt) -> None:
        """Let no part of an attempt wait any more."""
        for waiting in self._waiting.values():
            waiting[:] = [part for part in waiting if part.attempt is not attempt]

    def _begin(self, part: NodePart) -> None:
        node = part.node
        if node.line is not None:
            part.line, part.is_sent = node.line, True
            self.put_rest(part)
        elif node.is_broken:
            self._end(part.attempt, "lost", refusal(node, node.error))
        else:
            self._waiting.setdefault(node, []).append(part)
            self._send_agent(node)


def refusal(node: Node, error: str) -> str:
    """Return the error of an attempt that a node cannot run."""
    return f"node {node.name} cannot run it: {error}"
