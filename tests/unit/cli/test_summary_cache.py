from __future__ import annotations

import sqlite3

import pytest

from overtone.journal.seals import sealed
from overtone.reading import summary_cache as module
from overtone.reading.experiment_summary import ExperimentSummary
from overtone.reading.summary_cache import SummaryCache, cache_file, folder_bytes


def told_twice(journal) -> tuple[dict, int]:
    """The summary from an index that was made before, and how many journals it read."""
    with SummaryCache() as index:
        return index.summary(journal), index.n_read


def test_a_journal_that_did_not_change_is_not_read_again(search):
    journal = search / "journal.jsonl"
    first, n = told_twice(journal)
    assert n == 1
    assert told_twice(journal) == (first, 0)


def test_only_what_is_new_is_read(tell, monkeypatch):
    told = tell()
    told.run({}, 2.0)
    told.write()
    told_twice(told.journal)
    begun: list[int] = []
    read = ExperimentSummary.read

    def watched(self, journal, *more):
        begun.append(self.data["offset"])
        read(self, journal, *more)

    monkeypatch.setattr(ExperimentSummary, "read", watched)
    size = told.journal.stat().st_size
    told.run({}, 1.0)
    told.close()
    found, _ = told_twice(told.journal)
    assert begun == [size]
    assert found["best"]["value"] == 1.0


def test_another_journal_at_the_same_place_is_read_from_its_beginning(tell, results):
    told = tell("exp")
    told.run({}, 2.0)
    told.close()
    told_twice(told.journal)
    told.folder.rename(results / "aside")
    other = tell("exp", seed=2)
    other.run({}, 3.0, 3.0, 3.0, 3.0, 3.0)
    other.close()
    assert told_twice(other.journal)[0]["best"]["value"] == 3.0


def test_a_journal_that_was_cut_and_has_grown_again_is_read_from_its_beginning(tell):
    told = tell()
    told.run({}, 2.0)
    told.write()
    before = told.journal.read_bytes()
    told.run({}, 1.0)
    told.close()
    known, _ = told_twice(told.journal)
    n, size = before.count(b"\n"), told.journal.stat().st_size
    ticks = [sealed(b'{"n":%d,"e":"tick","time":3.25' % (n + 1 + i)) for i in range(size)]
    told.journal.write_bytes(before + b"".join(ticks[: size // len(ticks[0])]))
    found, _ = told_twice(told.journal)
    assert (known["best"]["value"], found["best"]["value"], found["time"]) == (1.0, 2.0, 3.25)


def spoil_text(file):
    file.write_bytes(b"no database at all, but long enough to be taken for one" * 100)


def spoil_version(file):
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def spoil_table(file):
    with sqlite3.connect(file) as database:
        database.execute("DROP TABLE experiments")
        database.execute("CREATE TABLE experiments (journal TEXT PRIMARY KEY, other TEXT)")
    database.close()


def spoil_contents(file):
    with sqlite3.connect(file) as database:
        database.execute("UPDATE experiments SET summary = '{', fold = '7'")
    database.close()


@pytest.mark.parametrize("spoil", [spoil_text, spoil_version, spoil_table, spoil_contents])
def test_an_index_that_is_damaged_or_of_another_version_is_made_again(search, spoil):
    journal = search / "journal.jsonl"
    first, _ = told_twice(journal)
    spoil(cache_file())
    assert told_twice(journal) == (first, 1)
    assert told_twice(journal) == (first, 0)


def test_it_works_where_nothing_can_be_written(search, tmp_path):
    (tmp_path / "file").write_text("")
    with SummaryCache(tmp_path / "file" / "index.sqlite3") as index:
        assert index.summary(search / "journal.jsonl")["results"] == 6
        assert index.n_read == 1


def test_it_works_while_another_process_writes_the_index(search, monkeypatch):
    journal = search / "journal.jsonl"
    first, _ = told_twice(journal)
    connect = sqlite3.connect
    monkeypatch.setattr(module.sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "timeout": 0.0}))
    other = connect(cache_file(), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert told_twice(journal) == (first, 1)
    other.execute("ROLLBACK")
    other.close()
    assert told_twice(journal) == (first, 0)


def test_what_a_folder_holds_without_what_it_links_to(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one").write_bytes(b"12345")
    (tmp_path / "a" / "b" / "two").write_bytes(b"123")
    big = tmp_path / "big"
    big.write_bytes(b"0" * 100_000)
    (tmp_path / "a" / "link").symlink_to(big)
    (tmp_path / "a" / "round").symlink_to(tmp_path / "a")
    assert 8 <= folder_bytes(tmp_path / "a") < 10_000
