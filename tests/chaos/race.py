"""Drivers that begin the same experiment at random moments within 0.3 s: exactly one runs, the others are refused.

    python tests/chaos/race.py --rounds 200

A round starts 2, 3, 6 or 30 drivers as processes or as threads, in a local folder or at a URL, with or
without `resume="AUTO"`, over no experiment or over a finished one. The winner's trials wait until every other
driver has been refused and one more driver, started then, has been refused too: no driver can come after the
winner's end. The checks of a round are in `verdict`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overtone import tune
from overtone.core.messages import Reported
from overtone.journal.reader import read

WINDOW_S = 0.3
PATIENCE_S = 60.0
N_TRIALS, N_RESULTS = 2, 3


@dataclass(frozen=True)
class Round:
    """What one round does.

    Attributes:
        n: How many drivers begin within the window; one more comes later.
        kind: "process" or "thread".
        place: "folder", "memory" (threads alone) or "s3".
        resume: The argument of the same name.
        engine: "inline", or "local", which opens more slowly; for processes in a folder.
        has_earlier: Whether an experiment of that name has ended there before, which drivers without
            `resume` move aside.
        seed: Of the drivers' moments.
    """

    n: int
    kind: str
    place: str
    resume: Any
    engine: str
    has_earlier: bool
    seed: int


def rounds(count: int, seed: int, s3: bool) -> Iterator[Round]:
    """So many rounds, in which every combination has its turn; 30 drivers come as every tenth round."""
    draw = random.Random(seed)
    places = [("process", "folder"), ("thread", "folder"), ("thread", "memory")]
    for i in range(count):
        kind, place = ("process", "s3") if s3 and i % 10 == 7 else places[i % 3]
        n = 30 if i % 10 == 9 else (2, 3, 6)[(i // 3) % 3]
        resume = (False, "AUTO")[i % 2]
        has_earlier = not resume and place != "s3" and i % 4 == 0
        engine = "local" if kind == "process" and place == "folder" and i % 9 == 3 else "inline"
        n = min(n, 6) if place == "s3" else n
        yield Round(n, kind, place, resume, engine, has_earlier, draw.getrandbits(32))


def train(config: dict[str, Any]) -> None:
    """Report once, wait until all other drivers were refused, and report the rest."""
    tune.report(score=0)
    give_up_at = time.monotonic() + PATIENCE_S
    while len(os.listdir(config["refusals"])) < config["n"] and time.monotonic() < give_up_at:
        time.sleep(0.01)
    for t in range(1, N_RESULTS):
        tune.report(score=t)


def drive(one: Round, storage: str, told: Path, name: str, delay_s: float) -> None:
    """Be one driver; leaves a file in `told/refused` or `told/won` that says how it went."""
    time.sleep(delay_s)
    try:
        analysis = tune.run(
            train, name="exp", config={"refusals": str(told / "refused"), "n": one.n}, num_samples=N_TRIALS,
            engine=one.engine, storage_path=storage, resume=one.resume, verbose=0, tensorboard=False,
            files=one.kind == "process",
        )  # fmt: skip
        facts = {"pid": os.getpid(), "results": [len(list(trial.results())) for trial in analysis.trials]}
        where = told / "won"
    except Exception as error:
        facts = {"pid": os.getpid(), "kind": type(error).__name__, "error": str(error)}
        where = told / "refused"
    unfinished = told / name
    unfinished.write_text(json.dumps(facts))
    unfinished.rename(where / name)


def started(one: Round, call: Callable[..., None], *args: Any) -> Any:
    """A thread, or a forked process, that makes the call."""
    if one.kind == "thread":
        made: Any = threading.Thread(target=call, args=args, daemon=True)
    else:
        made = multiprocessing.get_context("fork").Process(target=call, args=args)
    made.start()
    return made


def play(one: Round, folder: Path, storage: str) -> list[str]:
    """Play a round in the empty `folder`; what was wrong with it."""
    told = folder / "told"
    for name in ("refused", "won"):
        (told / name).mkdir(parents=True)
    if one.has_earlier:
        for name in range(one.n):
            (told / "refused" / f"e{name}").touch()
        tune.run(
            train, name="exp", config={"refusals": str(told / "refused"), "n": one.n}, num_samples=N_TRIALS,
            engine="inline", storage_path=storage, verbose=0, tensorboard=False, files=False,
        )  # fmt: skip
        for path in (told / "refused").iterdir():
            path.unlink()
    draw = random.Random(one.seed)
    drivers = [
        started(one, drive, one, storage, told, f"d{i}", draw.uniform(0, WINDOW_S)) for i in range(one.n)
    ]
    give_up_at = time.monotonic() + PATIENCE_S
    while len(os.listdir(told / "refused")) < one.n - 1 and time.monotonic() < give_up_at:
        time.sleep(0.01)
    drivers.append(started(one, drive, one, storage, told, "late", 0.0))
    for driver in drivers:
        driver.join(PATIENCE_S)
    left = [driver for driver in drivers if driver.is_alive()]
    for driver in left:
        if one.kind == "process":
            driver.kill()
    return [f"{len(left)} drivers did not end"] if left else verdict(one, told, journal_of(storage))


def journal_of(storage: str) -> Path:
    """The journal of the experiment on this machine."""
    from overtone.run.storage.location import root_of

    return root_of(storage) / "exp" / "journal.jsonl"


def verdict(one: Round, told: Path, journal: Path) -> list[str]:
    """Everything that is not as it must be."""
    won = [json.loads(path.read_text()) for path in (told / "won").iterdir()]
    refused = {path.name: json.loads(path.read_text()) for path in (told / "refused").iterdir()}
    wrong = []
    if len(won) != 1:
        wrong.append(f"{len(won)} drivers ran to their end")
    pids = {facts["pid"] for facts in won}
    # who moves an earlier experiment aside may lose the place right then: others were refused by it before
    holders = {facts["pid"] for facts in (*won, *refused.values())} if one.has_earlier else pids
    for name, facts in sorted(refused.items()):
        found = re.search(r"is being written by process (\d+) on ", facts["error"])
        if found is None or int(found[1]) not in (holders if name != "late" else pids):
            wrong.append(f"{name}: {facts['kind']}: {facts['error']}")
    for facts in won:
        if facts["results"] != [N_RESULTS] * N_TRIALS:
            wrong.append(f"the winner returned {facts['results']} results")
    try:
        records = list(read(journal))
        n_reports = sum(isinstance(record.event, Reported) for record in records)
        if n_reports != N_TRIALS * N_RESULTS:
            wrong.append(f"the journal has {n_reports} results")
    except Exception as error:
        wrong.append(f"the journal: {type(error).__name__}: {error}")
    around = sorted(path.name for path in journal.parent.parent.iterdir())
    if len(around) != 1 + one.has_earlier:
        wrong.append(f"in the results' folder lie {around}")
    return wrong


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """The URL of a bucket on moto's S3 server, which runs as a process of its own."""
    import socket
    import subprocess

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    log = (folder / "s3.log").open("wb")
    server = subprocess.Popen([sys.executable, "-m", "moto.server", "-p", str(port)], stdout=log, stderr=log)
    os.environ |= {
        "FSSPEC_S3_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip
    try:
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(0.1)
        # made by a child: the client is not to be forked from here
        child = multiprocessing.get_context("fork").Process(target=_make_bucket)
        child.start()
        child.join()
        yield "s3://races"
    finally:
        server.kill()
        server.wait()
        log.close()


def _make_bucket() -> None:
    import s3fs

    s3fs.S3FileSystem().mkdir("races")


def main(count: int, seed: int, s3: bool, only: int | None = None) -> int:
    """Play the rounds and print their figures; the number of rounds that went wrong."""
    home = Path(tempfile.mkdtemp(prefix="overtone_race_"))
    os.environ["XDG_CACHE_HOME"] = str(home / "cache")
    began, n_wrong, n_drivers, counts = time.monotonic(), 0, 0, {}
    try:
        from contextlib import ExitStack

        with ExitStack() as stack:
            bucket = stack.enter_context(s3_server(home)) if s3 else ""
            for i, one in enumerate(rounds(count, seed, s3)):
                if only is not None and i != only:
                    continue
                folder = home / str(i)
                folder.mkdir()
                storage = {
                    "folder": str(folder / "results"), "memory": f"memory://race{i}", "s3": f"{bucket}/{i}",
                }[one.place]  # fmt: skip
                wrong = play(one, folder, storage)
                n_drivers += one.n + 1
                key = (one.kind, one.place)
                counts[key] = counts.get(key, 0) + 1
                if wrong:
                    n_wrong += 1
                    print(f"round {i} {one}:", *wrong[:8], sep="\n  ", flush=True)
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    kinds = ", ".join(f"{n} of {kind} {place}" for (kind, place), n in sorted(counts.items()))
    print(
        f"{sum(counts.values())} rounds ({kinds}), {n_drivers} drivers, seed {seed}: "
        f"{n_wrong} rounds went wrong; {time.monotonic() - began:.0f} s"
    )
    return n_wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-s3", action="store_true", help="leave out the rounds at an S3 server")
    parser.add_argument("--only", type=int, help="play the round of this number alone")
    given = parser.parse_args()
    sys.exit(min(1, main(given.rounds, given.seed, not given.no_s3, given.only)))
