"""What real trackers have of a search, and what they should have."""

from __future__ import annotations

import json
import sqlite3
import struct
import subprocess
import sys
import zipfile
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

SCRIPT = Path(__file__).with_name("tracked_search.py")
NAMES = ("loss", "nested/odd")


def expected(folder):
    """Return each trial's values by step, from result.json: {trial: {(step, name): value}}."""
    found = {}
    for path in Path(folder, "search").glob("*/result.json"):
        values = found[path.parent.name] = {}
        for line in path.read_text().splitlines():
            result = json.loads(line)
            flat = {"loss": result["loss"], "nested/odd": float(result["nested"]["odd"])}
            values.update({(result["training_iteration"], name): flat[name] for name in NAMES})
    assert found
    return found


def same(one, other):
    """Return whether two mappings are equal, where NaN equals itself."""

    def plain(values):
        return {
            trial: {key: repr(float(value)) for key, value in some.items()} for trial, some in values.items()
        }

    return plain(one) == plain(other)


def in_mlflow(database):
    """Return the values, and (status, tags, parameters) of each trial; no value is there twice."""
    with sqlite3.connect(database) as connection:
        tags = defaultdict(dict)
        for run, key, value in connection.execute("select run_uuid, key, value from tags"):
            tags[run][key] = value
        trials = {run: one["trial_id"] for run, one in tags.items()}
        assert len(set(trials.values())) == len(trials)
        params = defaultdict(dict)
        for run, key, value in connection.execute("select run_uuid, key, value from params"):
            params[trials[run]][key] = value
        values = defaultdict(dict)
        query = "select run_uuid, step, key, case when is_nan then 'nan' else value end from metrics"
        for run, step, key, value in connection.execute(query):
            if key in NAMES:
                assert (step, key) not in values[trials[run]]
                values[trials[run]][step, key] = float(value)
        statuses = connection.execute("select run_uuid, status from runs").fetchall()
    return values, {trials[run]: (status, tags[run], params[trials[run]]) for run, status in statuses}


def in_wandb(folder):
    """Return the values and the tags of each trial, from the files of its offline run."""
    from wandb.proto import wandb_internal_pb2 as pb

    values, tags = defaultdict(dict), defaultdict(set)
    for path in Path(folder).glob("search/*/wandb/offline-run-*/run-*.wandb"):
        trial = path.parents[2].name
        for body in records(path.read_bytes()):
            record = pb.Record.FromString(body)
            if record.HasField("run"):
                tags[trial] |= set(record.run.tags)
            if record.HasField("history"):
                row = {
                    item.key or "/".join(item.nested_key): json.loads(item.value_json)
                    for item in record.history.item
                }
                for name in NAMES:
                    step = row["_step"]
                    assert (step, name) not in values[trial]
                    values[trial][step, name] = float(row[name])
    return values, tags


def records(data):
    """Yield the records of a file of wandb's, which has the form of LevelDB's logs."""
    assert data[:4] == b":W&B"
    at, whole = 7, b""
    while at + 7 <= len(data):
        if (1 << 15) - at % (1 << 15) < 7:
            at += (1 << 15) - at % (1 << 15)
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield whole
            whole = b""


def in_comet(place):
    """Return the values and the tags of each trial, from the archives."""
    values, tags = defaultdict(dict), defaultdict(set)
    for path in Path(place).glob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            lines = [json.loads(line) for line in archive.read("messages.json").splitlines()]
            facts = json.loads(archive.read("experiment.json"))
        others = {
            one["payload"]["key"]: one["payload"]["value"] for one in lines if one["type"] == "log_other"
        }
        trial = others["trial_id"]
        assert trial not in tags
        tags[trial] = set(facts["tags"])
        for one in (line["payload"]["metric"] for line in lines if line["type"] == "metric_msg"):
            if one["metricName"] in NAMES:
                key = one["step"], one["metricName"]
                assert key not in values[trial]
                values[trial][key] = float(one["metricValue"])
    return values, tags


def saved(folder):
    """Return the checkpoints' files of each trial, with their contents: {trial: {path: bytes}}."""
    return {path.name: _files(path) for path in Path(folder, "search").glob("*/") if _files(path)}


def artifacts(database, root=""):
    """Return the same from MLflow's artifacts; `root` is where a server keeps them."""
    with sqlite3.connect(database) as connection:
        uris = dict(connection.execute("select run_uuid, artifact_uri from runs"))
        trials = connection.execute("select run_uuid, value from tags where key = 'trial_id'").fetchall()
    places = {run: Path(f"{root}/{urlsplit(uri).path}") for run, uri in uris.items()}
    return {trial: found for run, trial in trials if (found := _files(places[run]))}


def _files(folder):
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.glob("checkpoint_*/model")}


def start(tmp_path, kind, place, pause_s):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(tmp_path), kind, place, str(pause_s)], cwd=tmp_path
    )


def n_values(database):
    """Return the number of values in a database of MLflow's; 0 while it has no tables."""
    if not database.exists():
        return 0
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)) as connection:
        try:
            return connection.execute("select count(*) from metrics where key = 'loss'").fetchone()[0]
        except sqlite3.OperationalError:
            return 0
