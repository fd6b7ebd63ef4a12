"""Records of format 1 get the effects of restarts, which format 2 records."""

from dataclasses import replace

import pytest

from overtone.core.limits import Limits
from overtone.core.messages import Added, Ended, Moved, Record, Reported, Requested, Resumed, Ruled
from overtone.core.resources import Resources
from overtone.core.types import Why
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.formats import FORMAT, Upgrade
from overtone.journal.reader import read
from overtone.reading.journal_index import JournalIndex

TRIAL, WHY, NEW = "358bb_00000", Why("pbt"), {"lr": 0.2}
RESTART = Ruled(TRIAL, 1, "restart", WHY, NEW)
ADDED = Added(TRIAL, 0, {"lr": 0.1}, Resources.of({"cpu": 1}), "0")


def moved(status, attempt=0, **more):
    return Moved(TRIAL, status, attempt, **more)


def ruled(status="RUNNING"):
    """A trial of this status, which is to restart."""
    halts = () if status in ("PENDING", "PAUSED") else (moved("HALTING"),)
    return [
        Record(2, Requested(0.0, "stop_trial"), (ADDED, moved("STARTING"), moved(status))),
        Record(3, Reported(1.0, TRIAL, 0, 1, {"loss": 1.0}), (RESTART, *halts)),
    ]


def beginning():
    upgrade = Upgrade()
    upgrade.begin({"n": 1, "format": 1})
    return upgrade


def upgraded(records):
    upgrade = beginning()
    return [upgrade.apply(record) for record in records]


@pytest.mark.parametrize("status", ["RUNNING", "PARKED"])
@pytest.mark.parametrize(
    ("event", "after", "config"),
    [
        *[(Ended(2.0, TRIAL, 0, cause), "PENDING", NEW) for cause in ("halted", "killed", "lost")],
        (Resumed(2.0, Limits()), "PENDING", NEW),
        *[(Ended(2.0, TRIAL, 0, cause), "PENDING", None) for cause in ("raised", "limit", "returned")],
        (Ended(2.0, TRIAL, 0, "halted"), "TERMINATED", None),
        (Ended(2.0, TRIAL, 0, "raised"), "ERROR", None),
    ],
)
def test_a_trial_gets_its_new_config_when_its_process_has_ended_for_it(status, event, after, config):
    records = [*ruled(status), Record(4, event, (moved(after, 1, why=WHY),))]
    assert upgraded(records) == [
        *records[:2],
        Record(4, event, (moved(after, 1, why=WHY, config=config),)),
    ]
    later = Record(5, Ended(3.0, TRIAL, 1, "lost"), (moved("PENDING", 2),))
    assert upgraded([*records, later])[-1] == later


def test_a_paused_trial_gets_it_at_once_whatever_happened_to_another():
    before = Record(2, Requested(0.0, "stop_trial"), (ADDED, moved("STARTING"), moved("PAUSED", 1)))
    event = Ended(1.0, "358bb_00001", 0, "raised")
    found = upgraded([before, Record(3, event, (RESTART, moved("PENDING", 1, why=WHY)))])
    assert found[1].choices == (RESTART, moved("PENDING", 1, why=WHY, config=NEW))


@pytest.mark.parametrize("attempt", [0, 2])
def test_a_pending_trial_gets_it_where_it_waits(attempt):
    waits = (ADDED, moved("STARTING"), moved("PENDING", attempt, error="E")) if attempt else (ADDED,)
    before = Record(2, Requested(0.0, "stop_trial"), waits)
    found = upgraded([before, Record(3, Ended(1.0, "358bb_00001", 0, "raised"), (RESTART,))])
    assert found[1].choices == (RESTART, moved("PENDING", attempt, why=WHY, config=NEW))


def test_a_record_that_is_read_again_is_left_as_it_is():
    """As a reader does that looks for one result."""
    upgrade, records = beginning(), ruled()
    for record in [*records, Record(4, Ended(2.0, TRIAL, 0, "raised"), (moved("PENDING", 1),)), *records]:
        upgrade.apply(record)
    later = Record(5, Ended(3.0, TRIAL, 1, "lost"), (moved("PENDING", 2),))
    assert upgrade.apply(later) == later


# --- journals ------------------------------------------------------------------------------------


def journal(folder, *lines):
    path = folder / "journal.jsonl"
    path.write_bytes(b"".join(lines))
    return path


def encoded(records):
    return [Codec().encode(record) for record in records]


LAST = Record(4, Ended(2.0, TRIAL, 0, "halted"), (moved("PENDING", 1),))


@pytest.mark.parametrize(
    ("header", "driver", "lr"),
    [(1, {}, 0.2), (1, {"format": 2}, 0.1), (2, {"format": 2}, 0.1)],
    ids=["old", "resumed", "new"],
)
def test_a_driver_names_the_format_of_its_records(tmp_path, header, driver, lr):
    path = journal(
        tmp_path,
        Codec().encode_fact(1, "header", {"format": header, "overtone": "0.1"}),
        Codec().encode_fact(2, "driver", driver),
        Codec().encode_fact(3, "end", {}),
        *encoded(replace(record, n=record.n + 2) for record in (*ruled(), LAST)),
    )
    index = JournalIndex(path)
    index.refresh()
    assert index.table.rows[TRIAL].config == {"lr": lr}


def test_a_driver_of_an_older_version_may_go_on_after_a_newer_one(tmp_path):
    """Of a journal that an older version began: it reads the header alone."""
    ended, again = Ended(4.0, TRIAL, 1, "lost"), Ended(6.0, TRIAL, 2, "halted")
    parts = [
        *ruled(),
        Record(5, Resumed(2.0, Limits()), (moved("PENDING", 1, config=NEW), moved("STARTING", 1))),
        Record(6, ended, (moved("PENDING", 2),)),
        Record(8, Resumed(5.0, Limits()), (moved("STARTING", 2), moved("RUNNING", 2))),
        Record(
            9, Reported(5.0, TRIAL, 2, 1, {}), (replace(RESTART, config={"lr": 0.3}), moved("HALTING", 2))
        ),
        Record(10, again, (moved("PENDING", 3),)),
    ]
    lines = encoded(parts)
    lines.insert(2, Codec().encode_fact(4, "driver", {"format": 2}))
    lines.insert(5, Codec().encode_fact(7, "driver", {}))
    path = journal(tmp_path, Codec().encode_fact(1, "header", {"format": 1, "overtone": "0.1"}), *lines)
    assert [one.config for record in read(path) for one in record.choices if type(one) is Moved] == [
        None, None, None, NEW, None, None, None, None, None, {"lr": 0.3},
    ]  # fmt: skip


def test_a_part_in_a_newer_format_is_refused(tmp_path):
    head = Codec().encode_fact(1, "header", {"format": FORMAT, "overtone": "0.1"})
    path = journal(tmp_path, head, Codec().encode_fact(2, "driver", {"format": FORMAT + 1}))
    with pytest.raises(StorageError, match=r"record 2 .* format 3; .* up to format 2: pip install -U"):
        list(read(path))


@pytest.mark.parametrize("given", ["1", None, [1], {}])
def test_a_format_that_is_no_number_is_refused(tmp_path, given):
    head = Codec().encode_fact(1, "header", {"format": FORMAT, "overtone": "0.1"})
    path = journal(tmp_path, head, Codec().encode_fact(2, "driver", {"format": given}))
    with pytest.raises(StorageError, match="made by something else"):
        list(read(path))


def test_a_codec_reads_another_journal_from_its_header_on(tmp_path):
    codec = Codec()
    old = Codec().encode_fact(1, "header", {"format": 1, "overtone": "0.1"})
    new = Codec().encode_fact(1, "header", {"format": 2, "overtone": "0.1"})
    lines = encoded([*ruled(), LAST])
    for head, config in ((old, NEW), (new, None), (old, NEW)):
        *_, record = read(journal(tmp_path, head, *lines), codec=codec)
        assert record.choices[0].config == config


def test_the_lineage_of_a_growing_journal_leaves_later_records_to_be_completed(tmp_path):
    first, second = encoded(ruled()), encoded([LAST])
    path = journal(tmp_path, Codec().encode_fact(1, "header", {"format": 1, "overtone": "0.1"}), *first)
    index = JournalIndex(path)
    index.refresh()
    with open(path, "ab") as file:
        file.write(b"".join(second))
    index.lineage()
    index.refresh()
    assert index.table.rows[TRIAL].config == NEW
