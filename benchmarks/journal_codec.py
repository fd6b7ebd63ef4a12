"""What msgspec would save: the time to decode and to encode a journal's records other than plain reports.

    python benchmarks/journal_codec.py [JOURNAL]      after `pip install msgspec`

Without a JOURNAL it is the golden one of population based training. Each time is CPU time per record, the
least of interleaved rounds. `typed` decodes messages without a second set of classes: first the kind of a
line, then the event and each choice by its dataclass. `added` stays as it is, since msgspec cannot make
Resources, which have a field that is no argument. `typed` knows no NaN, and no config that is not data.
Dataclasses are encoded with all their defaults, since msgspec omits those of its own structs alone.
"""

from __future__ import annotations

import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from overtone.core.messages import Added, Choice, Record
from overtone.journal import codec as ours
from overtone.journal.plain_reports import PLAIN_REPORT
from overtone.journal.reader import Lines
from overtone.journal.text import loads

msgspec: Any = import_module("msgspec")

GOLDEN = Path(__file__).parents[1] / "tests/golden/journals/pbt.zip"
ROUNDS = 9
FIELDS: Any = [("n", int), ("e", str), ("choices", list[msgspec.Raw], [])]
LINE = msgspec.json.Decoder(msgspec.defstruct("Line", FIELDS))
CHOICE = msgspec.json.Decoder(msgspec.defstruct("Kind", [("c", str)]))
DECODERS = {kind: msgspec.json.Decoder(kind) for kind in (*ours._EVENTS.values(), *ours._CHOICES.values())}


def typed(body: bytes, codec: ours.Codec) -> Record:
    """Decode a record with msgspec, by dataclasses."""
    text = body + b"}"
    line = LINE.decode(text)
    choices: list[Choice] = []
    for one in line.choices:
        kind = ours._CHOICES[CHOICE.decode(one).c]
        if kind is Added:
            choices.append(codec._message(kind, msgspec.json.decode(one)))
        else:
            choices.append(DECODERS[kind].decode(one))
    return Record(line.n, DECODERS[ours._EVENTS[line.e]].decode(text), tuple(choices))


def micros(rounds: dict[str, Callable[[], Any]], count: int) -> dict[str, float]:
    """Return the least CPU time of each, in microseconds per record."""
    least = dict.fromkeys(rounds, float("inf"))
    for _ in range(ROUNDS):
        for name, run in rounds.items():
            began = time.process_time()
            run()
            least[name] = min(least[name], (time.process_time() - began) * 1e6 / count)
    return least


def main(journal: Path) -> None:
    """Measure and print."""
    codec, encode = ours.Codec(), msgspec.json.Encoder().encode
    bodies = [body for body in Lines(journal) if PLAIN_REPORT.match(body) is None]
    events, records = zip(*[(one, made) for one in bodies if (made := codec.decode(one))], strict=True)
    found = micros(
        {
            "decode": lambda: [codec.decode(body) for body in events],
            "decode typed": lambda: [typed(body, codec) for body in events],
            "decode to dicts, json": lambda: [loads(body.decode() + "}") for body in events],
            "decode to dicts, msgspec": lambda: [msgspec.json.decode(body + b"}") for body in events],
            "encode": lambda: [codec.encode(record) for record in records],
            "encode typed": lambda: [encode(record) for record in records],
        },
        len(events),
    )
    sizes = [sum(len(encoded(one)) for one in records) / len(records) for encoded in (codec.encode, encode)]
    print(f"{len(events)} records of {journal}: {sizes[0]:.0f} bytes each, {sizes[1]:.0f} with defaults")
    for name, cost in found.items():
        print(f"{name:26} {cost:7.1f} us a record")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(GOLDEN) as archive:
            main(Path(archive.extract("ended/journal.jsonl", folder)))
