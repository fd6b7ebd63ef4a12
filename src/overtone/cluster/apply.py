"""Starts a cluster and takes it down, with the lock of the cluster held, and verifies what is left."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from shlex import quote
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.costs import FREE, MACHINES, cost_so_far, cost_text, note_machines
from overtone.cluster.place import check_place, place_of
from overtone.cluster.progress import Progress
from overtone.cluster.providers import provider_of
from overtone.cluster.resource import Resource
from overtone.cluster.state import State, told_of_full_disk
from overtone.errors import OvertoneError

ROUNDS = 5
"""Times that what is left is taken down again."""

PAUSE_S = 2.0

_NEW_MACHINES = ("aws", "gcp")
"""Providers that give the address of an earlier life's machine to a new one, which has another host key."""


class LeftError(OvertoneError):
    """Something of a cluster is left after it was taken down; the message lists it."""

    has_lines = True


def up(
    config: ClusterConfig,
    progress: Progress | None = None,
    *,
    for_run: bool = False,
    ask: Callable[[str], bool] | None = None,
) -> bool:
    """Start a cluster, or what is missing of it.

    If it fails or is interrupted, what was started is taken down. A cluster that was up before stays.

    Args:
        config: The cluster's config.
        progress: Shows the phases.
        for_run: Whether the cluster is for one run alone, and ends with it.
        ask: Asks a person a question after a Ctrl-C; None if there is nobody to ask.

    Returns:
        Whether this call has started the cluster: it was not up before.

    Raises:
        BusyError: Another command is changing the cluster.
        OvertoneError: It cannot be started; the message names the machine and what to do.
    """
    provider: Any = provider_of(config)
    provider.check(config)
    state = State.open(config)
    progress = progress or Progress()
    with told_of_full_disk(state), state.hold("overtone up"), _signals_as_interrupt():
        info = state.info()
        check_place(config, info)
        progress.cost = lambda: cost_so_far(state.info())
        is_known = info.get("phase") not in (None, "down")
        # Machines that this machine has not started are somebody else's, who uses the same name.
        was_up = (not is_known or info["phase"] == "up") and _exists(provider, config, progress)
        if not is_known or (info["phase"] == "up" and not was_up):
            _begin(config, state)
        _note_config(config, state)
        state.update(place=place_of(config))
        state.set_phase("up" if was_up else "starting")
        begin = getattr(provider, "start_for_run", provider.start) if for_run else provider.start
        try:
            begin(config, state, progress)
            with progress.phase("check", "what is up"):
                note_machines(config, state, provider.find(config))
            state.set_phase("up")
        except BaseException as error:
            with _recorded_if_possible(progress):
                state.record({"event": "failed", "error": f"{type(error).__name__}: {error}"[:500]})
            _clear_up(config, state, progress, error, was_up, ask)
            raise
        return not was_up


def down(config: ClusterConfig, progress: Progress | None = None) -> None:
    """Take a cluster down, and verify that nothing is left of it.

    Raises:
        BusyError: Another command is changing the cluster.
        LeftError: Something is left; the message lists it.
    """
    state = State.open(config)
    progress = progress or Progress()
    with state.hold("overtone down"), _signals_as_interrupt():
        check_place(config, state.info())
        progress.cost = lambda: cost_so_far(state.info())
        _take_down(config, state, progress)


def _exists(provider: Any, config: ClusterConfig, progress: Progress) -> bool:
    """Return whether a machine of the cluster is there: its watchdog may have taken it down meanwhile."""
    with progress.phase("check", "what is up"):
        found = provider.find(config)
    return any(one.kind in MACHINES and not one.is_unknown and one.state != "terminating" for one in found)


def _begin(config: ClusterConfig, state: State) -> None:
    """Record a new life of the cluster, before anything is started: a killed command leaves this."""
    if config.provider.type in _NEW_MACHINES:
        (state.folder / "known_hosts").unlink(missing_ok=True)
    state.update(
        name=config.name,
        provider=config.provider.type,
        id=uuid.uuid4().hex,
        began=time.time(),
        ended=None,
        machines={},
        touched=[],
    )


def _note_config(config: ClusterConfig, state: State) -> None:
    """Record the config, for commands that name the cluster alone."""
    with suppress(OSError):
        text = config.source.read_text("utf-8-sig")
        # Not resolved: paths in the config are seen from the folder of a link, not from that of its target.
        state.update(config=text, source=os.path.abspath(config.source))


def _clear_up(
    config: ClusterConfig,
    state: State,
    progress: Progress,
    error: BaseException,
    was_up: bool,
    ask: Callable[[str], bool] | None,
) -> None:
    """Take down what a failed or interrupted start has started; a person may keep it after a Ctrl-C."""
    again = f"overtone down {quote(str(config.source))}"
    if was_up:
        with _recorded_if_possible(progress):
            state.set_phase("up")
        progress.warn(f"cluster {config.name} was up before, so it stays; to take it down: {again}")
        return
    if isinstance(error, KeyboardInterrupt) and ask is not None:
        try:
            is_wanted = ask(f"take down what was started of {config.name}?")
        except KeyboardInterrupt:
            is_wanted = True
        if not is_wanted:
            progress.warn(f"what was started of {config.name} stays and may cost; to take it down: {again}")
            return
    try:
        _take_down(config, state, progress)
    except (OvertoneError, OSError, KeyboardInterrupt) as left:
        progress.warn(str(left) or f"interrupted; something of {config.name} may be left: {again}")


def _take_down(config: ClusterConfig, state: State, progress: Progress) -> None:
    """Stop, and look what is left, until that is nothing."""
    provider: Any = provider_of(config)
    with _recorded_if_possible(progress):
        state.set_phase("taking down")
    with progress.phase("take down", config.name):
        left: list[Resource] = []
        for at in range(ROUNDS):
            provider.stop(config, state, progress)
            left = provider.find(config)
            with _recorded_if_possible(progress):
                note_machines(config, state, left)
            if not left:
                break
            progress.note(f"{len(left)} left: {', '.join(sorted({one.kind for one in left}))}")
            if at + 1 == ROUNDS or all(one.is_unknown for one in left):
                break
            time.sleep(PAUSE_S)
        if left:
            with _recorded_if_possible(progress):
                state.record({"event": "left", "resources": [vars(one) for one in left]})
            raise LeftError(_left_text(config, left))
        state.remove_secrets()
        with _recorded_if_possible(progress):
            state.update(ended=time.time())
            state.set_phase("down")


@contextmanager
def _recorded_if_possible(progress: Progress) -> Iterator[None]:
    """Let a cluster be taken down although its records cannot be written, as on a full disk."""
    try:
        yield
    except OSError as error:
        progress.warn(f"the cluster's records cannot be written: {error}")


def _left_text(config: ClusterConfig, left: list[Resource]) -> str:
    lines = "".join(f"\n  {one.kind} {one.id}: {one.state}" for one in left)
    return (
        f"{len(left)} of cluster {config.name} {'is' if len(left) == 1 else 'are'} left:{lines}\nrun "
        f"`overtone down {quote(str(config.source))}` again; it is safe to repeat"
    )


def summary(config: ClusterConfig) -> str:
    """Return the cost of the cluster's last life, such as "cost: $1.20; "; "" if nobody bills it."""
    text = cost_text(State(config.name).info())
    return "" if text == FREE else f"cost: {text}; "


@contextmanager
def _signals_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C: a closed terminal or a stopped job takes down what it started."""
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
