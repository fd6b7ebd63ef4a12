"""Reports of a gang inside a trial: the trial's own session decides, for all ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from overtone.worker.checkpoints.temporary_folders import temporary_folder
from overtone.worker.gang.checkpoint_files import merge
from overtone.worker.gang.reports import Report, Verdict, joint_metrics

if TYPE_CHECKING:
    from overtone.worker.session.session import Session


class TrialReports:
    """An `on_report` that reports each step of the ranks as one result of the trial.

    Metrics are rank 0's, or means where a rank reported with `reduce="mean"`. The files of all ranks are one
    checkpoint of the trial. What the trial's scheduler decides reaches all ranks at this step: a new config,
    a request to save, or the end.

    Args:
        session: The trial's session.
        reduce: "mean" for means in any case.
    """

    def __init__(self, session: Session, reduce: str = "") -> None:
        self._session, self._reduce = session, reduce
        self._may_save = False

    def __call__(self, reports: list[Report]) -> Verdict:
        """Report a step of the ranks, and return how they go on.

        Raises:
            TrialHalted: The trial should end.
        """
        session = self._session
        if any(report.may_save for report in reports) and not self._may_save:
            self._may_save = True
            session.should_checkpoint()  # from now on a request to save waits for the ranks
        if any(report.is_noticed for report in reports):
            session.notice.is_given = True
        with _changes(session) as has_changed:
            if reports[0].is_record:
                with merged_checkpoint(reports) as checkpoint:
                    assert checkpoint is not None
                    session.record_checkpoint(checkpoint)
            else:
                session.report(joint_metrics(reports, self._reduce), checkpoint=self._prepared(reports))
        params = session.params if has_changed else None
        return Verdict(params, self._may_save and session.should_checkpoint())

    def _prepared(self, reports: Sequence[Report]) -> Path | None:
        """Return what the report brings; files of several ranks wait, merged, where the report finds them."""
        paths = [report.checkpoint for report in reports if report.checkpoint is not None]
        if len(paths) > 1:
            self._session.collect_checkpoint(lambda folder: merge(reports, folder))
            return None
        return paths[0] if paths else None


@contextmanager
def merged_checkpoint(reports: Sequence[Report]) -> Iterator[Path | None]:
    """Yield, for the block, a file or directory with the files of all ranks; None if there are none."""
    paths = [report.checkpoint for report in reports if report.checkpoint is not None]
    if len(paths) <= 1:
        yield paths[0] if paths else None
        return
    folder = Path(temporary_folder())
    try:
        merge(reports, folder)
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


@contextmanager
def _changes(session: Session) -> Iterator[list[bool]]:
    """Yield a list that is empty as long as the trial's config does not change during the block."""
    before = session.on_params
    changes: list[bool] = []

    def note() -> None:
        changes.append(True)
        if before is not None:
            before()

    session.on_params = note
    try:
        yield changes
    finally:
        session.on_params = before
