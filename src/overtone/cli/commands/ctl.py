"""`overtone ctl EXP VERB`: steers an experiment, and asks where a trial hangs."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_dir, add_experiment, add_json, suggest
from overtone.cli.exit_codes import OK

if TYPE_CHECKING:
    from pathlib import Path

    from overtone.control.answers import Answer
    from overtone.core.messages import Requested

VERBS = {
    "stop": "end the search, or the trial TRIAL; running trials save first",
    "pause": "save a trial and hold it; its resources are free meanwhile",
    "resume": "continue a paused trial",
    "save": "let a trial save a checkpoint",
    "add": "add a trial, also to a search that is over",
    "clone": "add a trial with the config and the newest checkpoint of another",
    "limits": "change limits; running trials continue",
    "priority": "set a trial's priority: among waiting trials, a higher priority starts first",
    "note": "write a note into the journal",
    "stack": "show where the processes of a trial are, such as one that hangs",
}
"""The verbs and what each does."""

_SIZE_OF_TIME = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_TIME = re.compile(r"(?:\d+(?:\.\d+)?(?:s|min|m|h|d))+")
_TIME_PART = re.compile(r"(\d+(?:\.\d+)?)(s|min|m|h|d)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone ctl`."""
    add_experiment(parser)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", required=True)
    for verb, about in VERBS.items():
        one = verbs.add_parser(verb, help=about, description=f"{about[0].upper()}{about[1:]}.")
        _ARGUMENTS[verb](one)
        if verb not in ("limits", "priority", "note", "stack"):
            one.add_argument("--note", default="", metavar="TEXT", help="the reason, for the journal")
        add_dir(one, default=argparse.SUPPRESS)  # It may come before the verb.
        add_json(one)
    suggest(parser, VERBS)


def run(args: Arguments) -> int:
    """Make the request and say what becomes of it."""
    from overtone.cli.lookup import journal_of
    from overtone.control.requests import new_id, requested, user_name
    from overtone.engines.request_delivery import deliver

    folder = journal_of(args.experiment, args.dir).parent
    if args.verb == "stack":
        _show_stacks(folder, args.trial, args.json)
        return OK
    fields = {name: value for name, value in _FIELDS[args.verb](args).items() if value is not None}
    who = f"{user_name()} from the command line"
    fields = {"note": getattr(args, "note", ""), **fields, "who": who, "request": new_id()}
    event = requested(fields)
    answer = deliver(folder, event)
    if args.json:
        from overtone.cli.json_output import write_json

        data = {"what": event.what, "n": answer.n, "trial_id": answer.trial_id}
        write_json({**data, "waits": answer.waits, "request": event.request})
    else:
        _show(event, answer, folder)
    return OK


def _show_stacks(folder: Path, trial: str, as_json: bool) -> None:
    from overtone.cli.json_output import write_json
    from overtone.control.client import question
    from overtone.observers.display.plain_text import printable_output
    from overtone.standard_streams import write

    text = printable_output(question(folder, "stack", trial), colours=False)
    if as_json:
        write_json({"text": text})
    else:
        write(sys.stdout, text)


def _show(event: Requested, answer: Answer, folder: Path) -> None:
    from shlex import quote

    from overtone.cli.tables import say

    trial = f" {answer.trial_id}" if answer.trial_id else ""
    what = event.what.replace("_", " ")
    say(f"{what}{trial}: record {answer.n}")
    if answer.waits and event.what != "note":
        say(f"no driver runs it: it takes effect with overtone resume {quote(str(folder))}")


# --- arguments ------------------------------------------------------------------------


def _trial(parser: argparse.ArgumentParser, nargs: Any = None) -> None:
    about = "its id, how only one begins or ends, or its index"
    parser.add_argument("trial", metavar="TRIAL", nargs=nargs, help=about)


def _stop(parser: argparse.ArgumentParser) -> None:
    _trial(parser, "?")


def _add(parser: argparse.ArgumentParser) -> None:
    about = "values of its config; those that are missing are drawn from the space"
    parser.add_argument("--config", type=_json_object, default={}, metavar="JSON", help=about)
    about = "its demand, such as '{\"cpu\": 2}' (that of the other trials)"
    parser.add_argument("--resources", type=_json_object, metavar="JSON", help=about)
    about = "the trial whose newest checkpoint it begins with"
    parser.add_argument("--from", dest="source", metavar="TRIAL", help=about)
    _add_priority(parser, "--priority")


def _clone(parser: argparse.ArgumentParser) -> None:
    _trial(parser)
    parser.add_argument("--anew", action="store_true", help="begin without the checkpoint")
    about = "another value in its config, JSON or a text; may be repeated"
    parser.add_argument(
        "--set", action="append", default=[], type=_assignment, metavar="NAME=VALUE", help=about
    )
    _add_priority(parser, "--priority")


def _limits(parser: argparse.ArgumentParser) -> None:
    about = "most trials at the same time; none for no limit"
    parser.add_argument("--concurrency", type=_count_or_none, metavar="N", help=about)
    about = "number of samples; -1 for no limit"
    parser.add_argument("--num-samples", type=_whole, metavar="N", help=about)
    about = "end the search at this time after its start, such as 90m or 2h; none for no limit"
    parser.add_argument("--time", type=_time_or_none, metavar="TIME", help=about)


def _priority(parser: argparse.ArgumentParser) -> None:
    _trial(parser)
    _add_priority(parser, "priority")


def _add_priority(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument(name, type=float, metavar="NUMBER", help="higher starts first")


def _note(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("note", metavar="TEXT")
    _trial(parser, "?")


_ARGUMENTS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "stop": _stop,
    **dict.fromkeys(("pause", "resume", "save", "stack"), _trial),
    "add": _add,
    "clone": _clone,
    "limits": _limits,
    "priority": _priority,
    "note": _note,
}


# --- requests -------------------------------------------------------------------------


def _limit_fields(args: Arguments) -> dict[str, Any]:
    given = {"max_concurrent": args.concurrency, "num_samples": args.num_samples, "time_budget_s": args.time}
    limits = {name: None if value == _NONE else value for name, value in given.items() if value is not None}
    if not limits:
        from overtone.errors import UsageError

        raise UsageError("limits needs a limit: --concurrency N, --num-samples N or --time TIME")
    return {"what": "set_limits", "limits": limits}


def _clone_fields(args: Arguments) -> dict[str, Any]:
    changes = dict(args.set) or None
    source = None if args.anew else args.trial
    return {**_on(args, "add"), "source": source, "config": changes, "priority": args.priority}


def _on(args: Arguments, what: str) -> dict[str, Any]:
    return {"what": what, "trial_id": args.trial}


_FIELDS: dict[str, Callable[[Arguments], dict[str, Any]]] = {
    "stop": lambda args: _on(args, "stop_trial" if args.trial else "stop"),
    "pause": lambda args: _on(args, "pause_trial"),
    "resume": lambda args: _on(args, "resume_trial"),
    "save": lambda args: _on(args, "save_trial"),
    "add": lambda args: {
        "what": "add",
        "config": args.config,
        "resources": args.resources,
        "source": args.source,
        "priority": args.priority,
    },
    "clone": _clone_fields,
    "limits": _limit_fields,
    "priority": lambda args: {**_on(args, "set_priority"), "priority": args.priority},
    "note": lambda args: {**_on(args, "note"), "note": args.note},
}


# --- values ---------------------------------------------------------------------------

_NONE = "none"


def _json_object(text: str) -> dict[str, Any]:
    import json

    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not JSON ({error}): write '{{\"lr\": 0.01}}'"
        ) from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"{text!r} must be an object, such as '{{\"lr\": 0.01}}'")
    return value


def _assignment(text: str) -> tuple[str, Any]:
    import json

    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} must look like lr=0.01")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _count_or_none(text: str) -> int | str:
    return _NONE if text.lower() == _NONE else _whole(text)


def _time_or_none(text: str) -> float | str:
    """Return seconds from "90", "90s", "1.5h" or "1h30m", or `_NONE`."""
    if text.lower() == _NONE:
        return _NONE
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if not _TIME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time, such as 90m, 2h or 1h30m")
    parts: Sequence[tuple[str, str]] = _TIME_PART.findall(text)
    return sum(float(amount) * _SIZE_OF_TIME[unit] for amount, unit in parts)
