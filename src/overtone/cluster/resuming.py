"""Experiments that go on on a cluster: those that came back from a head that is gone, or that ran here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from overtone.cluster.head import Head
from overtone.cluster.listing import checksum, first_line
from overtone.cluster.run_record import RunRecord, records
from overtone.cluster.upload import upload_experiment
from overtone.errors import OvertoneError
from overtone.journal.lines import has_records
from overtone.journal.lock import is_locked
from overtone.store.folder_mark import JOURNAL, LOCK


@dataclass(frozen=True)
class GoingOn:
    """The experiment that a new run resumes.

    Attributes:
        resume: The folder on the head, or the URL, of the experiment to resume, whatever the script says;
        None
            to leave it to the script's `resume=...`.
        folders: Experiments that the head needs: the folder there, and the one here.
    """

    resume: str | None = None
    folders: dict[str, Path] = field(default_factory=dict)


def of_earlier_run(state_folder: Path, key: str) -> GoingOn:
    """Return what the newest run of the same script left unfinished.

    Its experiments are uploaded again, for a script with `resume="AUTO"` or `resume=True`. If the head was
    lost, so that nobody knows how the run ended, it is resumed in any case.
    """
    earlier = [record for record in records(state_folder) if record.facts.get("key") == key]
    if not earlier:
        return GoingOn()
    from overtone.run.resume.target import is_finished  # takes a third of a second

    record, folders, places = earlier[-1], {}, []
    for there, fact in record.facts["experiments"].items():
        here = Path(fact["here"])
        if fact["url"]:
            places.append(fact["url"])
        elif has_records(here / JOURNAL) and not is_finished(here):
            place = _on_any_head(there, str(record.facts.get("home", "")))
            folders[place] = here
            places.append(place)
    is_lost = record.facts["status"] is None and not record.facts.get("is_taken_up")
    return GoingOn(places[0] if places and is_lost else None, folders)


def of_experiment(here: Path) -> GoingOn:
    """Return that an experiment of this machine goes on there.

    Raises:
        OvertoneError: It runs, or is at a URL.
    """
    from overtone.store.cache import origin

    if is_locked(here / LOCK):
        raise OvertoneError(
            f"{here} runs on this machine: stop it first, such as with overtone ctl {here} stop"
        )
    url = origin(here)
    if url is not None:
        return GoingOn(url)
    place = f"~/overtone_results/{here.name}"
    return GoingOn(place, {place: here})


def bring_there(head: Head, going_on: GoingOn) -> None:
    """Upload the experiments that the head lacks, or of which it has less.

    Raises:
        OvertoneError: Another experiment is in such a folder there, or it runs there.
    """
    folders = going_on.folders
    if not folders:
        return
    sizes = {there: (here / JOURNAL).stat().st_size for there, here in folders.items()}
    known = {found["folder"]: found for found in head.experiments(list(folders), sizes)}
    for there, here in folders.items():
        found = known.get(there)
        if found is not None and found["is_running"]:
            raise OvertoneError(f"{there} runs on {head.remote.name} already")
        if found is not None and found["prefix"] is not None:  # it is not shorter there
            if found["prefix"] != checksum(here / JOURNAL, sizes[there]):
                raise _differs(here, there, head)
            continue
        if found is not None and found["size"] and first_line(here / JOURNAL) != found["first"]:
            raise _differs(here, there, head)
        upload_experiment(head.remote, here, there)


def note_places(record: RunRecord, going_on: GoingOn, home: str) -> None:
    """Remember that experiments come back to the folders from which they went."""
    for there, here in going_on.folders.items():
        record.note_experiment(there.replace("~", home, 1), here, None)


def taken_up(state_folder: Path, key: str, but: str) -> None:
    """Note that earlier runs of a script are not resumed again: this run has their experiments."""
    for record in records(state_folder):
        if record.facts.get("key") == key and record.id != but and not record.facts.get("is_taken_up"):
            record.note({"is_taken_up": True})


def _on_any_head(there: str, home: str) -> str:
    return f"~{there[len(home) :]}" if home and there.startswith(home + "/") else there


def _differs(here: Path, there: str, head: Head) -> OvertoneError:
    return OvertoneError(
        f"{there} on {head.remote.name} is another experiment than {here}, or has gone on differently: move "
        "one of them away"
    )


def words_of(options: Sequence[str], program: Sequence[str]) -> list[str | None]:
    """Return a command for the head: None stands for its Python."""
    return [None, *options, *program]
