"""The process of a rank: it connects to its head, and runs what the head asks for until the head ends it."""

from __future__ import annotations

import os
import pickle
from traceback import format_exception
from typing import TYPE_CHECKING, Any, cast

from overtone.core.sizes import shorten
from overtone.errors import GangError, TrialHalted
from overtone.worker.gang.head_line import HeadLine, Message
from overtone.worker.gang.network import interface_of, this_host, this_pid_namespace
from overtone.worker.gang.places import environment
from overtone.worker.gang.plan import RankOrder
from overtone.worker.gang.rank_session import RankSession
from overtone.worker.output import flush_output
from overtone.worker.protocol import pickled
from overtone.worker.session.current import activated, activated_here
from overtone.worker.sigterm import Notice
from overtone.worker.tracebacks import LONGEST_ERROR, in_one_line, user_part_in_rank

if TYPE_CHECKING:
    from overtone.core.job import Job
    from overtone.worker.session.session import Session


class _State(dict[str, Any]):
    """A dict of this process: a function that names it and travels by value finds the receiver's."""

    def __reduce__(self) -> str:
        return "rank_state"


rank_state: dict[str, Any] = _State()
"""Objects that functions of this rank keep from one call to the next."""


def run_rank(
    job: Job | None, order: RankOrder, notice: Notice | None = None, is_thread: bool = False
) -> None:
    """Run this process as a rank; return when the head says goodbye, or has closed the connection.

    Args:
        job: The Job of the trial; the head hands on what a rank needs of it.
        order: The rank's place, and how to reach its head.
        notice: The state of a SIGTERM to this process, if the caller minds it.
        is_thread: Whether this thread alone is the rank, in the process of its head.

    Raises:
        GangError: The head refuses this rank: a later generation has begun.
        OSError: The head cannot be reached.
    """
    place, plan = order.place, order.plan
    os.environ.update(environment(place, plan.generation, order.start.trial_id or "overtone"))
    line = HeadLine(plan, place.rank)
    interface = interface_of(line.address)
    if interface:  # by the route to the head, since a host may have several
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)
        os.environ.setdefault("NCCL_SOCKET_IFNAME", f"={interface}")  # exactly this one, not a prefix
    try:
        _, variables, facts, every_s = line.receive()
        os.environ.update(variables)
        session = RankSession(line, place, pickle.loads(facts), notice)
        with (activated_here if is_thread else activated)(cast("Session", session)):
            line.look_after(every_s, lambda: session.notice.is_given, ends_process=not is_thread)
            line.send(("ready", os.getpid(), os.uname().nodename, this_host(), this_pid_namespace()))
            _serve(line, session)
    except EOFError:
        pass
    finally:
        line.close()


def _serve(line: HeadLine, session: RankSession) -> None:
    while True:
        kind, *rest = line.receive()
        if kind == "call":
            outcome = _outcome(session, *rest)
            try:
                line.send(outcome)
            except GangError as error:  # its result is too long
                line.send(_raised(error))
        elif kind == "environment":
            os.environ.update(rest[0])
        elif kind == "shutdown":
            return


def _outcome(session: RankSession, function: bytes, *call: Any) -> Message:
    """Call a function that the head has sent, and return the message that tells how it ended."""
    try:
        with session.during_call(*call):
            called, arguments, keywords = pickle.loads(function)
            result = called(*arguments, **keywords)
        message: Message = ("returned", pickled(result))
    except TrialHalted:
        message = ("halted",)
    except BaseException as error:  # EOFError, too: if the head is gone, the answer meets its end
        message = _raised(error)
    flush_output()
    return ("halted",) if session.is_halted else message


def _raised(error: BaseException) -> Message:
    """Return ("raised", one line, the user's part of the traceback, the exception pickled or b"")."""
    shown = "".join(format_exception(type(error), error, user_part_in_rank(error.__traceback__)))
    try:
        body = pickled(error)
    except Exception:  # any, since it calls methods of the user's class
        body = b""
    return ("raised", in_one_line(error)[:LONGEST_ERROR], shorten(shown), body)
