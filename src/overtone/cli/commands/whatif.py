"""`overtone whatif EXP --scheduler S`: what a finished experiment would have been under another scheduler."""

from __future__ import annotations

import argparse
import ast
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment, add_goal, add_json
from overtone.cli.exit_codes import OK
from overtone.errors import OvertoneError

if TYPE_CHECKING:
    from overtone.research.what_if import Replay, Stopped, WhatIf

_EXAMPLE = '"ASHAScheduler(max_t=81)"'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone whatif`."""
    add_experiment(parser)
    about = f"a name of overtone.tune.schedulers with plain arguments, such as {_EXAMPLE}, or a short name"
    parser.add_argument("--scheduler", required=True, metavar="S", help=about)
    add_goal(parser)
    add_json(parser)


def run(args: Arguments) -> int:
    """Tell it."""
    from overtone.cli.lookup import journal_of
    from overtone.research import whatif

    scheduler = scheduler_of(args.scheduler)
    journal = journal_of(args.experiment, args.dir)
    found = whatif(journal.parent, scheduler, metric=args.metric, mode=args.mode)
    if args.json:
        from overtone.cli.json_output import write_json

        write_json(_data(found, args.scheduler))
    else:
        _show(found, args.scheduler)
    return OK


def scheduler_of(text: str) -> Any:
    """Return the scheduler that `text` names; only literals are evaluated.

    Raises:
        OvertoneError: `text` is not a call of a scheduler with literals.
    """
    from inspect import signature

    from overtone.core.protocols import TrialScheduler
    from overtone.lazy import nearest
    from overtone.named import create_scheduler
    from overtone.tune import schedulers

    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise OvertoneError(f"--scheduler {text!r} is not an expression: write it as {_EXAMPLE}") from None
    call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
    if not isinstance(call.func, ast.Name) or any(one.arg is None for one in call.keywords):
        raise OvertoneError(f"--scheduler {text!r} is not a name with arguments: write it as {_EXAMPLE}")
    try:
        args = [ast.literal_eval(one) for one in call.args]
        kwargs = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except ValueError:
        raise OvertoneError(
            f"--scheduler {text!r}: arguments must be plain numbers, texts, lists or dicts, as in {_EXAMPLE}"
        ) from None
    name = call.func.id
    kinds = {
        one: kind
        for one in dir(schedulers)
        if one[:1].isupper() and one != "TrialScheduler"
        and isinstance(kind := getattr(schedulers, one), type) and issubclass(kind, TrialScheduler)
    }  # fmt: skip
    try:
        if name not in kinds and name.islower():
            return create_scheduler(name, **kwargs)
        if name not in kinds:
            raise OvertoneError(f"overtone.tune.schedulers has no scheduler {name!r}{nearest(name, kinds)}")
        taken = list(signature(kinds[name]).parameters)
        for one in kwargs:
            if one not in taken:
                raise TypeError(f"there is no {one!r}{nearest(one, taken)}; it takes {', '.join(taken)}")
        return kinds[name](*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise OvertoneError(f"--scheduler {text!r}: {error}") from None


def _show(found: WhatIf, scheduler: str) -> None:
    from overtone.cli.tables import say, show_facts
    from overtone.observers.display.plain_text import duration, number
    from overtone.research.what_if import COVERAGE, N_REPLAYS

    def between(low: float | None, high: float | None, shown: Any = number) -> str:
        if low is None or high is None:
            return "nothing"
        return shown(low) if shown(low) == shown(high) else f"{shown(low)} to {shown(high)}"

    was = found.recorded
    say(f"{found.n_trials} recorded trial{'s' * (found.n_trials != 1)} under {scheduler}:", "bold")
    in_trials = f"{between(*found.trial_s, duration)} in trials (it was {duration(was.trial_s)})"
    n_results = between(*found.n_results)
    show_facts([
        ("took", f"{between(*found.time_s, duration)} (it was {duration(was.time_s)}), {in_trials}"),
        ("results", f"{n_results} (it was {was.n_results})"),
        ("found", f"{found.metric}={between(*found.found)} (it was {_of(was)})"),
        ("stopped", _trials(len(found.stopped)) if found.stopped else "no trial"),
    ])  # fmt: skip
    if found.beyond:
        n, changed = len(found.beyond), len(found.changed)
        how = "beyond their recording" if n > changed else "with other hyperparameters than were recorded"
        if 0 < changed < n:
            how += f", {changed} of them with other hyperparameters"
        low_s, high_s = sorted((found.cut.time_s, found.extended.time_s))
        extremes = between(low_s, high_s, duration)
        basis = (
            "all of this lies between two replays; in one they end there, in the other they go on with the "
            "best value that was recorded"
            if changed
            else f"they were predicted {N_REPLAYS} times, from trials that were about as good; the truth "
            f"lies within these ranges with a probability of about {COVERAGE:.0%}. If they ended there, or "
            f"went on with the best value that was recorded, it would have taken {extremes}"
        )
        say(f"{_trials(n)} would have gone on {how}: {basis}")
    if found.left_out:
        say(f"left out: {_trials(len(found.left_out))} without a curve from iteration 1 on")
    for note in found.notes:
        say(note)
    say()
    for one in found.stopped:
        say(f"{one.trial_id} stopped at {one.t}: {reason(one, found)}")


def reason(one: Stopped, found: WhatIf) -> str:
    """Return the reason why a trial would have been stopped, and its recorded outcome."""
    from overtone.observers.display.plain_text import number
    from overtone.reading.story_text import ordinal

    why, sign = one.why, 1.0 if found.mode == "max" else -1.0
    parts = [f"{found.metric}={'no number' if one.value is None else number(one.value)}"]
    if why.rank is not None:
        parts[0] += f" is {ordinal(why.rank)}" + (f" of {why.of}" if why.of is not None else "")
    if why.cutoff is not None:
        parts.append(f"the cutoff was {number(sign * why.cutoff)}")
    if why.note:
        parts.append(why.note)
    if one.best is not None:
        parts.append(f"its best was {number(one.best)}")
    if not one.is_certain:
        parts.append("not certain")
    return "; ".join(parts)


def _trials(n: int) -> str:
    return f"{n} trial{'s' * (n != 1)}"


def _of(replay: Replay) -> str:
    from overtone.observers.display.plain_text import number

    return "nothing" if replay.best is None else number(replay.best)


def _data(found: WhatIf, scheduler: str) -> dict[str, Any]:
    from dataclasses import asdict

    from overtone.cli.trial_rows import why_data

    return {
        "scheduler": scheduler,
        "metric": found.metric,
        "mode": found.mode,
        "trials": found.n_trials,
        "is_exact": found.is_exact,
        "recorded": asdict(found.recorded),
        "cut": asdict(found.cut),
        "extended": asdict(found.extended),
        "predicted": [asdict(one) for one in found.predicted],
        "beyond": found.beyond,
        "changed": found.changed,
        "left_out": found.left_out,
        "notes": found.notes,
        "stopped": [
            {
                "trial_id": one.trial_id,
                "t": one.t,
                "value": one.value,
                "best": one.best,
                "is_certain": one.is_certain,
                "why": why_data(one.why),
                "text": reason(one, found),
            }
            for one in found.stopped
        ],
    }
