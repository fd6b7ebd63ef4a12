"""`overtone pack EXP --to FOLDER`: the best checkpoint with its config and provenance, for serving."""

from __future__ import annotations

import argparse

from overtone.cli.arguments import Arguments, add_experiment, add_goal, add_json
from overtone.cli.exit_codes import OK, NotFoundError
from overtone.errors import OvertoneError, StorageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone pack`."""
    add_experiment(parser)
    add_goal(parser)
    parser.add_argument("--trial", metavar="TRIAL", help="pack this trial's checkpoint (the best trial's)")
    parser.add_argument("--to", metavar="FOLDER", required=True, help="the new folder")
    add_json(parser)


def run(args: Arguments) -> int:
    """Write the pack, and print what it holds.

    Raises:
        NotFoundError: There is no best trial, or the trial has no checkpoint.
        OvertoneError: The checkpoint is damaged, or the folder exists or cannot be written.
    """
    from overtone.analysis.no_result import NoBestError
    from overtone.cli.lookup import analysis_of, journal_of, trial_id
    from overtone.cli.ranking import goal_needed, goal_of
    from overtone.packs.loading import load_pack

    journal = journal_of(args.experiment, args.dir)
    analysis, trials = analysis_of(journal, args.metric, args.mode)
    wanted = args.trial and trial_id(args.trial, (one.trial_id for one in trials), journal.parent)
    choose = goal_of if wanted else goal_needed
    metric, mode = choose(analysis, args.metric, args.mode)
    try:
        analysis.pack(args.to, wanted, metric, mode)
    except NoBestError as error:
        raise NotFoundError(str(error)) from None
    except StorageError as error:
        raise OvertoneError(str(error)) from error
    pack = load_pack(args.to)
    facts = {"path": pack.path, "sha256": pack.sha256, **pack.provenance}
    if args.json:
        from overtone.cli.json_output import write_json

        write_json(facts)
    else:
        from overtone.cli.tables import show_facts
        from overtone.observers.display.plain_text import number

        show_facts([
            ("pack", pack.path),
            ("sha256", pack.sha256),
            ("trial", f"{facts['trial_id']} at iteration {facts['training_iteration']}"),
            (metric or "", "" if facts["value"] is None else number(facts["value"])),
            ("versions", ", ".join(f"{name} {one}" for name, one in facts["versions"].items() if one)),
            ("files", f"{len(facts['files'])}"),
        ])  # fmt: skip
    return OK
