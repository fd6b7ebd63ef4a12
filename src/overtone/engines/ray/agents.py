"""The actors of this run: one on each node that relays, and one for each trial that uses Ray."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import count
from threading import Lock
from typing import Any

from overtone.core.messages import Start
from overtone.core.resources import Resources
from overtone.engines.ray import cluster_connection, memory, preemption
from overtone.engines.ray.environment import options_of
from overtone.engines.ray.lease import Lease
from overtone.engines.ray.node_agent import Errand, relay
from overtone.engines.ray.placement_groups import bundle_index, ray_amounts
from overtone.errors import OvertoneError
from overtone.worker.limits.limit_usage import Amounts
from overtone.worker.stacks import stacks_of

_NOT_INSTALLED = "Overtone is not installed there"

_agents: dict[tuple[str, str, str], Any] = {}
"""Idle agents on the driver's node, by (job, node, environment). A new agent takes a second to start."""

_lock = Lock()
"""Held while an idle agent is replaced."""

ANSWER_S = 20.0
"""Seconds that a node gets to start a process that looks at a trial."""

_numbers = count()
"""Numbers that make the names of this process's actors unique."""


class NodeAgent:
    """Works on a node for one run after the other.

    Args:
        name: Name of the run for which the agent is started.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def work(self, errand: Errand) -> None:
        """Work for a run until its driver hangs up."""
        memory.spare_this_process()
        with preemption.watched():
            relay(errand, _fetch, memory.share())


class TrialActor:
    """A trial that uses Ray: a fresh process that holds the first bundle of its lease."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def run(self, errand: Errand, start: Start, used: Amounts) -> None:
        """Run the trial to its end."""
        from overtone.engines.ray.trial import run_trial

        with preemption.watched():
            run_trial(errand, start, self._name, _fetch, used)


def send_agent(node: str, errand: Errand) -> tuple[Any, Any]:
    """Start work on a node; return the actor and a reference that is ready when the work has ended."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    actor = _agents.pop(_key(node, errand), None)
    if actor is None:
        there = NodeAffinitySchedulingStrategy(node, soft=False)
        environment = options_of(errand.job.runtime_env)
        actor = (
            ray.remote(NodeAgent)
            .options(
                num_cpus=0, scheduling_strategy=there, name=_actor_name(errand, errand.node), **environment
            )
            .remote(_run_name(errand))
        )
    return actor, actor.work.options(name=_run_name(errand)).remote(errand)


def _run_name(errand: Errand) -> str:
    return f"overtone {errand.job.folder.name}"


def _actor_name(errand: Errand, what: str) -> str:
    """Return a unique name that describes an actor."""
    return f"{_run_name(errand)} {what} {errand.token.hex()[:6]}-{next(_numbers)}"


def keep_agent(node: str, errand: Errand, actor: Any) -> None:
    """Keep an agent whose errand is done for this driver's next run in the same environment.

    Runs at the same time have an agent each, of which one is kept. The others are killed: a process may
    outlive the last handle of its actor.
    """
    key = _key(node, errand)
    with _lock:
        earlier = _agents.pop(key, None)
        _agents[key] = actor
    if earlier is not None:
        end(earlier)


def _key(node: str, errand: Errand) -> tuple[str, str, str]:
    return cluster_connection.job_id(), node, repr(errand.job.runtime_env)


def send_trial(lease: Lease, errand: Errand, start: Start, name: str, used: Amounts) -> tuple[Any, Any]:
    """Start a trial's actor; return the actor and a reference that is ready when the trial has ended."""
    import ray

    options = bundle_options(lease.shape, 0, lease.group)
    options |= {"name": _actor_name(errand, name), **options_of(errand.job.runtime_env)}
    actor = ray.remote(TrialActor).options(**options).remote(name)
    return actor, actor.run.remote(errand, start, used)


def bundle_options(shape: Resources, at: int, group: Any) -> dict[str, Any]:
    """Return the options of an actor that holds the bundle `at` of a placement group, and its tasks too."""
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    amounts = ray_amounts(shape.bundles[at])
    options: dict[str, Any] = {"num_cpus": amounts.pop("CPU", 0), "num_gpus": amounts.pop("GPU", 0)}
    if "memory" in amounts:
        options["memory"] = amounts.pop("memory")
    if group is not None:
        options["scheduling_strategy"] = PlacementGroupSchedulingStrategy(
            group, bundle_index(shape, at), placement_group_capture_child_tasks=True
        )
    return {**options, "resources": amounts}


def stacks_on(node: str, pid: int, trial_id: str, environment: Mapping[str, Any]) -> str:
    """Return the stacks of a trial's process on a node, and of its children; takes a few seconds.

    Raises:
        OvertoneError: The node does not answer.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    there = NodeAffinitySchedulingStrategy(node, soft=False)
    task = ray.remote(stacks_of).options(
        num_cpus=0, max_retries=0, scheduling_strategy=there, **options_of(environment)
    )
    try:
        found: str = ray.get(task.remote([pid], trial_id), timeout=ANSWER_S)
    except Exception as error:
        raise OvertoneError(f"the node of trial {trial_id} does not answer: {_told(error)}") from error
    return found


def end(actor: Any) -> None:
    """Kill an actor's process if it still runs."""
    import ray

    if not cluster_connection.is_connected():
        return  # Ray would connect again
    try:
        ray.kill(actor)
    except Exception:
        pass  # the actor or the whole cluster is gone


def is_done(reference: Any, within_s: float) -> bool:
    """Return whether a task ends in time and without an error."""
    import ray

    if not cluster_connection.is_connected():
        return False
    try:
        ray.get(reference, timeout=within_s)
    except Exception:
        return False
    return True


def on_end(reference: Any, call: Callable[[str], None]) -> None:
    """Call `call` from another thread when a task has ended, with the error text ("" for no error)."""

    def tell(future: Any) -> None:
        error = future.exception()
        call("" if error is None else _told(error))

    reference.future().add_done_callback(tell)


def means_loss(error: str) -> bool:
    """Return whether an error text means that the node was lost."""
    return "node has died" in error or "ActorUnschedulableError" in error or "doesn't exist any more" in error


def is_hopeless(error: str) -> bool:
    """Return whether an error text means that no process on the node can work."""
    return error.startswith(_NOT_INSTALLED)


def _told(error: BaseException) -> str:
    cause = getattr(error, "cause", None) or error
    if re.search(r"No module named '(overtone|cloudpickle)\b", str(cause)):
        return f'{_NOT_INSTALLED} (pip install "overtone[ray]" on every machine)'
    first, *rest = [line.strip() for line in str(cause).splitlines() if line.strip()] or ["it says no more"]
    reason = next((line for line in reversed(rest) if _is_telling(line)), "")
    return f"{type(cause).__name__}: {first}{f' ({reason:.300})' if reason else ''}"


def _is_telling(line: str) -> bool:
    return "node has died" in line or re.match(r"(ERROR|[\w.]+(Error|Exception)): ", line) is not None


def _fetch(reference: Any) -> bytes:
    import ray

    found: bytes = ray.get(reference)
    return found
