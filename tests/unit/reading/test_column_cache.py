from __future__ import annotations

import errno
import os
import random
import stat

import pytest

from overtone.reading.columns import array_file, column_cache
from overtone.reading.columns.column_cache import ColumnCache
from overtone.reading.columns.journal_fold import JournalFold
from overtone.reading.columns.opening import ColumnReader, open_columns


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Any record is enough for a file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(column_cache, "FEWEST", 1)
    return tmp_path / "cache" / "overtone" / "columns"


def read_anew(journal):
    fold = JournalFold(journal)
    fold.read()
    return fold.columns()


@pytest.mark.parametrize("seed", range(8))
def test_growth_in_random_steps(told, seed, check_columns, check_equal, cache):
    rng = random.Random(seed)
    reader = None
    for step in range(10):
        told.random_steps(rng, rng.choice([0, 1, 2, 10, 60]))
        journal = told.write()
        if reader is None or rng.random() < 0.2:
            reader = ColumnReader(journal)
        wanted = read_anew(journal)
        if step % 4 == 3:
            check_columns(wanted, journal)
        check_equal(open_columns(journal), wanted)
        check_equal(reader.read(), wanted)
    assert len(list(cache.iterdir())) == 1


def test_a_file_is_used(told, monkeypatch, check_equal):
    told.random_steps(random.Random(1), 50)
    journal = told.write()
    wanted = open_columns(journal)
    monkeypatch.setattr(JournalFold, "_on_record", None)
    check_equal(open_columns(journal), wanted)


def test_its_modes(told, cache):
    told.random_steps(random.Random(1), 50)
    open_columns(told.write())
    (file,) = cache.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert not [one for one in told.journal.parent.iterdir() if "columns" in one.name]


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_file_is_made_again(told, cache, seed, check_equal):
    rng = random.Random(seed)
    told.random_steps(rng, 40)
    journal = told.write()
    wanted = open_columns(journal)
    (file,) = cache.iterdir()
    intact = file.read_bytes()
    for _ in range(10):
        data = bytearray(intact)
        at = rng.choice([rng.randrange(len(data)), rng.randrange(200)])
        kind = rng.randrange(5)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randrange(1, 100))
        elif kind == 3:
            data = bytearray(rng.randbytes(rng.choice([0, 1, 64, 1000])))
        else:
            data[at : at + 64] = bytes(64)
        file.write_bytes(data)
        check_equal(open_columns(journal), wanted)
        assert open_columns(journal).n_records == wanted.n_records
        assert file.read_bytes()[:64] == intact[:64]


def test_a_file_of_another_version(told, monkeypatch, check_equal):
    told.random_steps(random.Random(1), 50)
    journal = told.write()
    wanted = open_columns(journal)
    monkeypatch.setattr(array_file, "VERSION", array_file.VERSION + 1)
    assert ColumnCache(journal).load() is None
    check_equal(open_columns(journal), wanted)
    assert ColumnCache(journal).load() is not None


def test_another_journal_with_the_same_header(told, check_equal):
    told.random_steps(random.Random(1), 50)
    journal = told.write()
    open_columns(journal)
    reader = ColumnReader(journal)
    reader.read()
    header = journal.read_bytes().split(b"\n")[0] + b"\n"
    for seed in (2, 3):
        story = type(told)(journal.parent.parent / f"other{seed}")
        story.random_steps(random.Random(seed), 80)
        lines = story.write().read_bytes().split(b"\n", 1)[1]
        journal.write_bytes(header + lines)
        check_equal(open_columns(journal), read_anew(journal))


def test_a_journal_that_was_cut(told, check_equal):
    told.random_steps(random.Random(1), 50)
    journal = told.write()
    reader = ColumnReader(journal)
    reader.read()
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    check_equal(open_columns(journal), read_anew(journal))
    check_equal(reader.read(), read_anew(journal))


@pytest.mark.parametrize("rest", [b"{", b'{"n":' + b"9" * (1 << 20)], ids=["begin", "1 MB"])
def test_a_torn_last_line(told, rest, check_equal):
    rng = random.Random(1)
    told.random_steps(rng, 50)
    journal = told.write()
    whole = journal.read_bytes()
    wanted = open_columns(journal)
    reader = ColumnReader(journal)
    journal.write_bytes(whole + rest)
    check_equal(open_columns(journal), wanted)
    check_equal(reader.read(), wanted)
    journal.write_bytes(whole)
    told.random_steps(rng, 5)
    told.write()
    check_equal(reader.read(), read_anew(journal))


@pytest.mark.parametrize("where", ["file", "folder", "full disk"])
def test_a_cache_that_cannot_be_written(told, cache, where, monkeypatch, check_equal):
    told.random_steps(random.Random(1), 50)
    journal = told.write()
    if where == "file":  # root may write anywhere, but not below a file
        cache.parent.parent.write_text("")
    elif where == "folder":
        cache.parent.mkdir(parents=True)
        cache.write_text("")
    else:

        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "replace", full)
    check_equal(open_columns(journal), read_anew(journal))
    if where == "full disk":
        assert list(cache.iterdir()) == []


def test_what_a_killed_writer_left_is_deleted_later(told, cache):
    told.random_steps(random.Random(1), 50)
    journal = told.write()
    cache.mkdir(parents=True)
    old, new = cache / f".old{array_file.UNFINISHED}", cache / f".new{array_file.UNFINISHED}"
    old.write_bytes(b"x")
    os.utime(old, (1.0, 1.0))
    new.write_bytes(b"x")
    open_columns(journal)
    assert not old.exists()
    assert new.exists()


def test_the_oldest_files_are_deleted(make_told, tmp_path, cache, monkeypatch):
    monkeypatch.setattr(column_cache, "MOST_FILES", 2)
    for number in range(4):
        told = make_told(tmp_path / f"exp{number}", number=number)
        told.random_steps(random.Random(1), 20)
        open_columns(told.write())
        for file in cache.iterdir():
            os.utime(file, (file.stat().st_mtime - 100,) * 2)
    assert len(list(cache.iterdir())) == 2


def test_an_interrupted_reading_leaves_nothing(told, cache, check_equal):
    told.random_steps(random.Random(1), 50)
    journal = told.write()

    def interrupt(offset):
        raise KeyboardInterrupt

    reader = ColumnReader(journal)
    with pytest.raises(KeyboardInterrupt):
        reader.read(interrupt)
    assert not cache.exists()
    check_equal(reader.read(), read_anew(journal))


def test_ten_thousand_levels(told, check_equal):
    for number in range(10_000):
        told.add({"name": f"level {number}"})
    journal = told.write()
    for _ in range(2):
        columns = open_columns(journal)
        assert columns.params["name"].levels == tuple(f"level {one}" for one in range(10_000))


def test_few_records_are_not_kept(told, cache, monkeypatch):
    monkeypatch.setattr(column_cache, "FEWEST", 5_000)
    told.random_steps(random.Random(1), 50)
    open_columns(told.write())
    assert not cache.exists()
