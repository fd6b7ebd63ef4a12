"""Starts a cluster and takes it down, with the lock of the cluster held, and verifies what is left."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from shlex import quote

from overtone.cluster.config import ClusterConfig
from overtone.cluster.costs import FREE, MACHINES, cost_so_far, cost_text, note_machines
from overtone.cluster.interrupts import ANSWER_S, Ask, Interrupts
from overtone.cluster.place import check_place, place_of
from overtone.cluster.progress import Progress
from overtone.cluster.provider import Provider, Resource
from overtone.cluster.provider_modules import about, provider_of
from overtone.cluster.state import State, told_of_full_disk
from overtone.cluster.touched_hosts import leave_out
from overtone.errors import OvertoneError

ROUNDS = 5
"""Times that what is left is taken down again."""

PAUSE_S = 2.0


class LeftError(OvertoneError):
    """Something of a cluster is left after it was taken down; the message lists it."""

    has_lines = True


def up(
    config: ClusterConfig,
    progress: Progress | None = None,
    *,
    for_run: bool = False,
    ask: Ask | None = None,
    interrupts: Interrupts | None = None,
    starter: str = "",
) -> bool:
    """Start a cluster, or what is missing of it.

    If it fails or is interrupted, what was started is taken down. A cluster that was up before stays.

    Args:
        config: The cluster's config.
        progress: Shows the phases.
        for_run: Whether the cluster is for one run alone, and ends with it.
        ask: Asks a person a question after a Ctrl-C; None if there is nobody to ask.
        interrupts: What handles Ctrl-C for the caller; None if nothing does.
        starter: Identifies the caller, for `was_started_by`.

    Returns:
        Whether this call has started the cluster: it was not up before.

    Raises:
        BusyError: Another command is changing the cluster.
        OvertoneError: It cannot be started; the message names the machine and what to do.
    """
    provider = provider_of(config)
    provider.check(config)
    state = State.open(config)
    progress = progress or Progress()
    with told_of_full_disk(state), state.hold("overtone up"), _handled(interrupts, progress) as interrupts:
        info = state.info()
        check_place(config, info)
        progress.cost = lambda: cost_so_far(state.info())
        is_known = info.get("phase") not in (None, "down")
        # Machines that this machine has not started are somebody else's, who uses the same name.
        was_up = (not is_known or info["phase"] == "up") and _exists(provider, config, progress)
        if not is_known or (info["phase"] == "up" and not was_up):
            _begin(config, state)
        _note_config(config, state)
        state.update(place=place_of(config), **({} if was_up else {"starter": starter}))
        state.set_phase("up" if was_up else "starting")
        try:
            provider.start(config, state, progress, for_run)
            with progress.phase("check what was started"):
                note_machines(config, state, provider.find(config))
            state.set_phase("up")
        except BaseException as error:
            interrupts.shield(shield_text(config))  # A person who is impatient presses Ctrl-C twice.
            with _recorded_if_possible(progress):
                state.record({"event": "failed", "error": f"{type(error).__name__}: {error}"[:500]})
            _clear_up(config, state, progress, error, was_up, ask, interrupts)
            raise
        return not was_up


def was_started_by(starter: str, state: State) -> bool:
    """Return whether a cluster is up because a call of `up` with this `starter` has started it.

    Unlike the value that `up` returns, this is known also if Ctrl-C comes just before it returns.
    """
    info = state.info()
    return info.get("phase") == "up" and info.get("starter") == starter


def down(
    config: ClusterConfig,
    progress: Progress | None = None,
    interrupts: Interrupts | None = None,
    *,
    gone: Sequence[str] = (),
) -> None:
    """Take a cluster down, and verify that nothing is left of it. A first Ctrl-C only says what goes on.

    Args:
        config: The cluster's config.
        progress: Shows the phases.
        interrupts: What handles Ctrl-C for the caller; None if nothing does.
        gone: Hosts that are gone for good: nothing is looked up or ended there.

    Raises:
        BusyError: Another command is changing the cluster.
        LeftError: Something is left; the message lists it.
        OvertoneError: A host in `gone` is none of the cluster's.
        KeyboardInterrupt: A second Ctrl-C; a line has said what to do.
    """
    state = State.open(config)
    progress = progress or Progress()
    with state.hold("overtone down"), _handled(interrupts, progress) as interrupts:
        check_place(config, state.info())
        progress.cost = lambda: cost_so_far(state.info())
        leave_out(gone, config, state)
        try:
            _take_down(config, state, progress, interrupts)
        except KeyboardInterrupt:
            progress.warn(_interrupted_text(config))
            raise


def _exists(provider: Provider, config: ClusterConfig, progress: Progress) -> bool:
    """Return whether a machine of the cluster is there: its watchdog may have taken it down meanwhile."""
    with progress.phase("check what is up"):
        found = provider.find(config)
    return any(one.kind in MACHINES and not one.is_unknown and one.state != "terminating" for one in found)


def _begin(config: ClusterConfig, state: State) -> None:
    """Record a new life of the cluster, before anything is started: a killed command leaves this."""
    facts = about(config.provider.type)
    if facts.reuses_addresses:
        (state.folder / "known_hosts").unlink(missing_ok=True)
    state.update(
        name=config.name,
        provider=config.provider.type,
        has_prices=facts.has_prices,
        id=uuid.uuid4().hex,
        life_before=state.info().get("id"),
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
    ask: Ask | None,
    interrupts: Interrupts,
) -> None:
    """Take down what a failed or interrupted start has started; a person may keep it after a Ctrl-C.

    The question has a limit: the cluster may cost, and there may be no watchdog yet.
    """
    again = down_command(config)
    if was_up:
        with _recorded_if_possible(progress):
            state.set_phase("up")
        progress.warn(f"cluster {config.name} was up before, so it stays; to take it down: {again}")
        return
    if isinstance(error, KeyboardInterrupt) and ask is not None:
        try:
            interrupts.lower_shield()
            is_wanted = ask(f"take down what was started of {config.name}?", within_s=ANSWER_S)
        except KeyboardInterrupt:
            is_wanted = True
        if not is_wanted:
            progress.warn(f"what was started of {config.name} stays and may cost; to take it down: {again}")
            return
    try:
        _take_down(config, state, progress, interrupts)
    except (OvertoneError, OSError, KeyboardInterrupt) as left:
        progress.warn(str(left) or _interrupted_text(config))


def down_command(config: ClusterConfig) -> str:
    """Return the command that takes a cluster down."""
    return f"overtone down {quote(str(config.source))}"


def shield_text(config: ClusterConfig) -> str:
    """Return the line that the first Ctrl-C shows while a cluster is taken down."""
    return (
        "taking the cluster down; press Ctrl-C again to leave it as it is, which may go on costing: "
        f"{down_command(config)} takes it down"
    )


def _interrupted_text(config: ClusterConfig) -> str:
    return (
        f"interrupted; something of {config.name} may be left, and may cost: "
        f"{down_command(config)} takes it down"
    )


def _take_down(config: ClusterConfig, state: State, progress: Progress, interrupts: Interrupts) -> None:
    """Stop, and look what is left, until that is nothing; a first Ctrl-C only says what goes on."""
    interrupts.shield(shield_text(config))
    provider = provider_of(config)
    with _recorded_if_possible(progress):
        state.set_phase("taking down")
    with progress.phase("take down", config.name):
        left: list[Resource] = []
        for at in range(ROUNDS):
            left = _stopped(provider, config, state, progress)
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


def _stopped(provider: Provider, config: ClusterConfig, state: State, progress: Progress) -> list[Resource]:
    """Stop the cluster once; return what is left. An error says that nobody knows that."""
    try:
        provider.stop(config, state, progress)
        return provider.find(config)
    except OvertoneError as error:
        again = f"`{down_command(config)}` takes it down; it is safe to repeat"
        raise LeftError(f"{error}\nsomething of {config.name} may be left, and may cost: {again}") from error


@contextmanager
def _recorded_if_possible(progress: Progress) -> Iterator[None]:
    """Let a cluster be taken down although its records cannot be written, as on a full disk."""
    try:
        yield
    except OSError as error:
        progress.warn(f"the cluster's records cannot be written: {error}")


def _left_text(config: ClusterConfig, left: list[Resource]) -> str:
    lines = "".join(f"\n  {one.kind} {one.id}: {one.state}" for one in left)
    silent = [f"--gone {one.id}" for one in left if one.is_unknown]
    gone = f", with {' '.join(silent)} if that is gone for good" if silent else ""
    return (
        f"{len(left)} of cluster {config.name} {'is' if len(left) == 1 else 'are'} left:{lines}\nrun "
        f"`{down_command(config)}` again{gone}; it is safe to repeat"
    )


def summary(config: ClusterConfig) -> str:
    """Return the cost of the cluster's last life, such as "cost: $1.20; "; "" if nobody bills it."""
    text = cost_text(State(config.name).info())
    return "" if text == FREE else f"cost: {text}; "


@contextmanager
def _handled(given: Interrupts | None, progress: Progress) -> Iterator[Interrupts]:
    """Yield what handles Ctrl-C, SIGTERM and SIGHUP: a closed terminal takes down what it started, too."""
    own = nullcontext(given) if given is not None else Interrupts(progress)
    with own as interrupts, interrupts.with_hangup():
        yield interrupts
