"""Folders made to do harm: whatever they hold, nothing runs, nothing is unpickled, nothing escapes.

An audit hook sees each file that is opened for writing, each module that is imported, each
process and each class that a pickle names.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import pytest

from overtone.analysis import ExperimentAnalysis
from overtone.core.messages import (
    Added,
    CapacityChanged,
    Ended,
    Moved,
    Record,
    Reported,
    Saved,
    Started,
    Suggested,
)
from overtone.core.resources import Resources
from overtone.core.types import Checkpoint
from overtone.errors import OvertoneError
from overtone.journal.codec import Codec
from overtone.journal.formats import FORMAT
from overtone.journal.seals import sealed
from overtone.observers.projections import rebuild, reconcile

pytestmark = pytest.mark.filterwarnings("ignore:there is no best trial")
TRIAL = "358bb_00000"
ANSI = "\x1b]0;owned\x07\x1b[31m<script>alert(1)</script>"
_seen: list[tuple[str, object]] | None = None
_DEEDS = frozenset({
    "pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "os.fork", "exec",
    "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.link", "os.truncate", "shutil.rmtree", "os.chmod",
})  # fmt: skip


def _audit(event: str, args: tuple) -> None:
    if _seen is None:
        return
    if (
        (event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        or event in _DEEDS
        or (event == "import" and args[0] in ("antigravity", "this"))
    ):
        _seen.append((event, args[0]))


sys.addaudithook(_audit)


class Watch:
    """Notes what is done in its block."""

    def __enter__(self) -> list:
        global _seen
        _seen = []
        return _seen

    def __exit__(self, *_) -> None:
        global _seen
        _seen = None


class Bomb:
    """A pickle that leaves a trace when it is read."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


def records(
    trial: str = TRIAL, uri: str = "/nowhere/358bb_00000/checkpoint_000002", **metrics
) -> list[Record]:
    config = {"lr": 0.1, ANSI: ANSI, "up": "../../x"}
    added = Added(trial, 0, config, Resources.of({"cpu": 1}), f"0_{ANSI}", name=ANSI)
    report = {"loss": 0.5, "training_iteration": 2, ANSI: 1.0, "../../x": ANSI, **metrics}
    events = [
        (CapacityChanged(0.0, {"a": {"cpu": 1.0}}),),
        (Suggested(0.0, 0, config), added, Moved(trial, "STARTING", 0)),
        (Started(0.0, trial, 0, ANSI, 7, ANSI), Moved(trial, "RUNNING", 0)),
        (Reported(1.0, trial, 0, 2, report),),
        (Saved(1.0, trial, 0, Checkpoint(trial, 2, uri)),),
        (Ended(2.0, trial, 0, "raised", ANSI, ANSI), Moved(trial, "ERROR", 1, error=ANSI)),
    ]
    return [Record(n, event, tuple(choices)) for n, (event, *choices) in enumerate(events, 2)]


HEADER = {
    "format": FORMAT,
    "wall": 1.0,
    "command": ["antigravity"],
    "parts": {
        "trainable": {"path": "os.system"},
        "scheduler": {"path": "os.system", "arguments": {"command": "touch owned"}},
        "searcher": {"path": "antigravity.fly", "arguments": {}},
        "stop": {"path": "this"},
        "space": {"x": {"__opaque__": "os.system"}, "y": {"__domain__": "antigravity"}},
        "name": ANSI,
        "metric": ["loss"],
        "mode": ["min"],
        "engine": "../../Engine",
    },
}


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "result.json").write_text("mine")
    return tmp_path / "experiment"


def write(folder: Path, lines: list[bytes]) -> None:
    head = Codec().encode_fact(1, "header", HEADER)
    (folder / "journal.jsonl").write_bytes(head + b"".join(lines))


def tell(folder: Path, told: list[Record]) -> None:
    write(folder, [Codec().encode(record) for record in told])


def analyse(folder: Path) -> None:
    analysis = ExperimentAnalysis(folder)
    list(analysis.results_df.columns)
    analysis.dataframe()
    for trial in analysis.trials:
        str(trial), repr(trial), trial.last_result, trial.metric_analysis, trial.traceback, trial.error_file
        analysis.get_best_checkpoint(trial, "loss", "min")
        analysis.get_last_checkpoint(trial)
    analysis.get_best_config("loss", "min")
    analysis.stats(), analysis.runner_data(), list(analysis.trial_dataframes.values())


def mend(folder: Path) -> None:
    for observer in reconcile(folder, tensorboard=False):
        observer.close()


OPENINGS = [analyse, rebuild, mend]


def no_harm(folder: Path, may_fail: bool = False) -> None:
    """Open it in every way; see what was done."""
    root = os.path.realpath(folder)
    analyse_nothing()
    for opening in OPENINGS:
        with Watch() as seen:
            try:
                opening(folder)
            except OvertoneError:
                assert may_fail
        for what, about in seen:
            if what == "exec" or (isinstance(about, str) and about.endswith(".pyc")):
                continue  # modules of ours, imported as they are needed
            inside = isinstance(about, (str, bytes, os.PathLike)) and os.path.realpath(
                os.path.dirname(os.fsdecode(about))
            ).startswith(root)
            assert inside, f"{opening.__name__}: {what} {about!r}"
    assert (folder.parent / "outside" / "result.json").read_text() == "mine"
    assert sorted(os.listdir(folder.parent)) == ["experiment", "outside"]
    assert os.listdir(folder.parent / "outside") == ["result.json"]


def analyse_nothing() -> None:
    """Import what analyses need, which is no harm."""
    import pandas as pd

    pd.DataFrame([{"a": 1}])


def test_names_and_import_paths(folder) -> None:
    tell(folder, records())
    no_harm(folder)


def test_pickles_everywhere(folder) -> None:
    bomb = pickle.dumps(Bomb(folder.parent / "owned"))
    saved = folder / TRIAL / "checkpoint_000002"
    saved.mkdir(parents=True)
    for path in (folder, folder / TRIAL, saved):
        for name in (
            "result.json", "progress.csv", "params.json", "params.pkl", "error.txt", "data.pkl", "state.json",
            "experiment_state.json", "searcher.pkl", "trainer.pkl", ".manifest.json", ".overtone.json",
            "events.out.tfevents.1.x", "result.json.new",
        ):  # fmt: skip
            (path / name).write_bytes(bomb)
    tell(folder, records())
    no_harm(folder)


@pytest.mark.parametrize("trial", [
    "../outside", "/tmp/x", "..", ".", "", "a/b", "a\\..\\b", "x\0y", ANSI, "~", "x" * 5000, ".hidden", "-rf",
])  # fmt: skip
def test_trials_whose_names_climb_are_refused(folder, trial) -> None:
    tell(folder, records(trial))
    for opening in OPENINGS:
        with pytest.raises(OvertoneError, match="is not the name of a folder"):
            opening(folder)
    no_harm(folder, may_fail=True)


@pytest.mark.parametrize("uri", [
    "../../outside", "/experiment/../outside", "x/../..", "file://../outside", "..", "/", "", "x\0y", "~/x",
    "http://example.invalid/x", "/etc/358bb_00000/checkpoint_000002",
])  # fmt: skip
def test_checkpoints_that_climb(folder, uri) -> None:
    tell(folder, records(uri=uri))
    no_harm(folder, may_fail=True)


def test_links_are_not_followed(folder) -> None:
    outside = folder.parent / "outside"
    tell(folder, records())
    (folder / TRIAL).symlink_to(outside)
    no_harm(folder, may_fail=True)
    for opening in (rebuild, mend):
        with pytest.raises(OvertoneError, match="is a link"):
            opening(folder)
    (folder / TRIAL).unlink()
    (folder / TRIAL).mkdir()
    for name in ("result.json", "result.json.new", "progress.csv", "params.json", "error.txt"):
        (folder / TRIAL / name).symlink_to(outside / "result.json")
    (folder / TRIAL / "checkpoint_000002").symlink_to(outside)
    no_harm(folder)
    assert not (folder / TRIAL / "result.json").is_symlink()
    path = ExperimentAnalysis(folder).get_best_checkpoint(TRIAL, "loss", "min", return_path=True)
    assert os.path.realpath(path) != os.path.realpath(outside)


@pytest.mark.parametrize("uri", ["{outside}", "file://{outside}", "{folder}/../outside", "/nowhere", "/"])
def test_a_pack_has_nothing_from_outside(folder, uri) -> None:
    outside = folder.parent / "outside"
    tell(folder, records(uri=uri.format(outside=outside, folder=folder)))
    (folder / TRIAL).mkdir()
    (folder / TRIAL / "checkpoint_000002").symlink_to(outside)
    analysis = ExperimentAnalysis(folder)
    with pytest.raises(OvertoneError, match="outside of|is not the path|is not there"):
        analysis.pack(folder / "pack", TRIAL, "loss", "min")
    assert sorted(os.listdir(folder)) == [TRIAL, "journal.jsonl"]


def test_a_folder_with_the_name_of_a_file(folder) -> None:
    tell(folder, records())
    (folder / TRIAL / "result.json").mkdir(parents=True)
    no_harm(folder, may_fail=True)


def plain(trial: str, metrics: bytes, n: int = 8) -> bytes:
    head = b'{"n":%d,"e":"reported","time":3.0,"trial_id":"%b","attempt":0,"t":3,"metrics":'
    return sealed(head % (n, trial.encode()) + metrics)


@pytest.mark.parametrize("metrics", [
    b'{"loss":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    b'{"loss":' + b"9" * 100_000 + b"}",
    b'{"loss":1e999999,"training_iteration":1e308}',
    b'{"loss":-0.0,"training_iteration":' + b"9" * 400 + b"}",
    b'"text"',
    b"[1,2]",
    b"null",
    b'{"loss":',
    b"\xff\xfe",
    b'{"trial_id":"../outside","pid":"x","hostname":{"a":[]},"config":"../.."}',
    b'{"__float__":"nan"}',
    b'{"loss":{"__float__":{"__float__":"inf"}}}',
], ids=range(13))  # fmt: skip
@pytest.mark.filterwarnings("ignore:the only trial is the best one")
def test_metrics_that_no_worker_sent(folder, metrics) -> None:
    write(folder, [*map(Codec().encode, records()), plain(TRIAL, metrics)])
    no_harm(folder, may_fail=True)


@pytest.mark.parametrize("body", [
    b'{"n":8,"e":"reported","time":1.0,"trial_id":"358bb_00009","attempt":0,"t":1,"metrics":{}',
    b'{"n":8,"e":"started"',
    b'{"n":8,"e":"started","time":"x","trial_id":{},"attempt":[],"node":1,"pid":-1',
    b'{"n":8,"e":"ended","time":1.0,"trial_id":"nobody","attempt":0,"cause":"returned"',
    b'{"n":8,"e":"tick","time":1.0,"choices":[{"c":"moved","trial_id":"nobody","status":"ERROR","attempt":0}]',
    b'{"n":8,"e":"tick","time":1.0,"choices":[{"c":"moved","trial_id":"358bb_00000","status":"X","attempt":0}]',
    b'{"n":8,"e":"tick","time":1.0,"choices":[{"c":"os.system"}]',
    b'{"n":8,"e":"os.system","time":1.0',
    b'{"n":8,"e":"tick","time":1e999',
    b'{"n":8,"e":"tick","time":1.0,"choices":' + b"[" * 100_000 + b"]" * 100_000,
    b'{"n":8,"e":"suggested","time":1.0,"index":0,"config":"x","choices":[{"c":"added","trial_id":[1]}]',
    b'{"n":8',
    b'{"n":8,"e":"reported","time":--,"trial_id":"358bb_00000","attempt":0,"t":3,"metrics":{}',
    b'{"n":8,"e":"reported","time":1.0,"trial_id":"358bb_00000","attempt":0,"t":' + b"9" * 5000 + b',"metrics":{}',
], ids=range(14))  # fmt: skip
def test_records_that_overtone_does_not_write(folder, body) -> None:
    write(folder, [*map(Codec().encode, records()), sealed(body)])
    no_harm(folder, may_fail=True)
