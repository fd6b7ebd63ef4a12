"""The engine of a sweep: this machine, and the machines of agents that joined."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from overtone.core.job import Job
from overtone.core.messages import CapacityChanged, Cause, Command, Start, Want
from overtone.core.protocols import Capabilities
from overtone.core.resources import Placement, Resources
from overtone.engines.local.engine import NODE, Local
from overtone.errors import StorageError
from overtone.program.at_agent import AGENT, GPUS, PLACE, dropped_name, task_name
from overtone.program.shared_place import AGENTS, Files, files_at, remove_tree, write_json
from overtone.store.cache import origin
from overtone.store.files import is_url
from overtone.sweep.presence import BEAT_S, DRIVER, Beat, Watch, agent_file
from overtone.worker.gpus import VARIABLE, visible_to

_LOOK_S, _LOOK_AT_URL_S = BEAT_S / 2, 5.0


class WithAgents(Local):
    """Runs trials on this machine, and on those of agents.

    A trial at an agent has a process here, too, which hands the program over and reports for it.

    Args:
        is_local: Whether trials run on this machine.
        cpus, gpus: What trials may use on this machine; by default all.
    """

    def __init__(self, is_local: bool = True, cpus: float | None = None, gpus: int | None = None) -> None:
        super().__init__(cpus=cpus, gpus=gpus)
        self.capabilities = Capabilities(isolates=True, is_elastic=True)
        self._is_local = is_local
        self._nodes: Mapping[str, Mapping[str, float]] = {}
        self._agent_gpus: dict[str, tuple[str, ...]] = {}
        self._known: Mapping[str, Mapping[str, float]] = {}
        self._ended: deque[str] = deque()
        self._has_told_of_agents = False
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None

    def open(self, job: Job) -> None:
        super().open(job)
        self._place = origin(job.folder) or str(job.folder)
        self._beat = Beat(files_at(self._place), DRIVER, {})
        self._run_id = self._beat.facts["token"]
        if not self._is_local:
            self._events[-1] = CapacityChanged(self.now(), {})
        self._watcher = threading.Thread(target=self._watch, name="overtone-agents", daemon=True)
        self._watcher.start()

    def close(self) -> None:
        super().close()
        self._closing.set()
        if self._watcher is not None:
            self._watcher.join(10.0)

    def describe(self) -> str:
        return f"{super().describe()}, and agents"

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, Want) and not self._has_told_of_agents and not self._fits_here(command.shape):
            self._has_told_of_agents = True
            self._say(
                f"trials that do not fit on this machine wait for: overtone sweep --agent {self._place}"
            )
        super()._carry_out(self._with_agent(command) if isinstance(command, Start) else command)

    def _fits_here(self, shape: Resources) -> bool:
        """Return whether this machine, when it is idle, has what a trial of this shape needs."""
        here = self._capacity.amounts() if self._is_local else {}
        return all(
            amount <= here.get(name, 0.0) for one in shape.bundles for name, amount in dict(one).items()
        )

    def _with_agent(self, start: Start) -> Start:
        """Return a Start whose process knows the agent that runs its program."""
        node = start.placement.nodes[0]
        if node == NODE:
            return start
        gpus = visible_to(start.placement, self._agent_gpus.get(node, ()))
        variables = ((VARIABLE, ""), (PLACE, self._place), (AGENT, f"{node}:{self._run_id}"), (GPUS, gpus))
        placement = Placement((NODE,) * len(start.placement.nodes), start.placement.gpus)
        return replace(start, devices=variables, placement=placement)

    def _end(self, start: Start, cause: Cause, error: str, traceback: str, is_hopeless: bool) -> None:
        agent, _, run_id = dict(start.devices or ()).get(AGENT, "").partition(":")
        if agent:  # its process here may have been killed
            self._ended.append(task_name(agent, start.trial_id, start.attempt, run_id))
        super()._end(start, cause, error, traceback, is_hopeless)

    def _gather(self) -> None:
        super()._gather()
        if self._nodes is not self._known:
            self._known = self._nodes
            here = {NODE: self._capacity.amounts()} if self._is_local else {}
            self._events.append(CapacityChanged(self.now(), {**here, **self._known}))

    def _watch(self) -> None:
        """Renew the driver's file, and follow the agents, until the end."""
        files = files_at(self._place)
        watches: dict[str, Watch] = {}
        gone: set[str] = set()
        look_s = 0.0
        while not self._closing.wait(look_s):
            look_s = _LOOK_AT_URL_S if is_url(self._place) else _LOOK_S
            with suppress(StorageError, OSError):
                self._beat.renew()
                self._look(files, watches, gone)
                while self._ended:  # the engine appends meanwhile
                    write_json(files, f"{self._ended[0]}/halt.json", {})
                    self._ended.popleft()
        with suppress(StorageError, OSError):
            self._beat.renew(is_over=True)
            for agent in {name.split("/")[1] for name in files.sizes(AGENTS) if "/tasks/" in name}:
                remove_tree(files, f"{AGENTS}/{agent}/tasks")

    def _look(self, files: Files, watches: dict[str, Watch], gone: set[str]) -> None:
        """Find agents that joined and agents that are gone."""
        for name in files.sizes(AGENTS):
            agent = name.split("/")[1]
            if name == agent_file(agent) and agent not in gone:
                watches.setdefault(agent, Watch(files, name))
        for agent, watch in list(watches.items()):
            if watch.look():
                self._agent_gpus[agent] = tuple(watch.facts.get("gpus", ()))
                continue
            del watches[agent]
            gone.add(agent)
            if watch.facts and not watch.facts.get("is_over"):
                write_json(files, dropped_name(agent), {})
        found = {agent: watch.facts["resources"] for agent, watch in watches.items()}
        if found != self._nodes:
            self._nodes = found
            self.wake()
