"""What a page that follows a journal has after any sequence of readings and updates."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overtone.core.types import Why
from overtone.testing.scripted_journal import ScriptedJournal
from overtone.ui.data import column_types
from overtone.ui.data.followed_journal import FollowedJournal


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_updates_lead_to_the_table_of_a_whole_message(tmp_path_factory, page, seed, is_large):
    rng = random.Random(seed)
    told = ScriptedJournal(tmp_path_factory.mktemp("told") / "exp")
    journal = told.write()
    followed, pages, before = FollowedJournal(journal), [], b""
    with pytest.MonkeyPatch.context() as patch:
        if is_large:
            patch.setattr(column_types, "EXACT_TRIALS", 5)
        for _ in range(8):
            told.random_steps(rng, rng.randrange(12))
            told.write()
            data = journal.read_bytes()
            torn = rng.randrange(1, 40) if rng.random() < 0.3 and len(data) > len(before) + 40 else 0
            if torn:  # the last line is not whole yet
                journal.write_bytes(data[:-torn])
            followed.refresh()
            if rng.random() < 0.5:
                pages.append(page(followed.whole()))
            for i in rng.sample(range(len(pages)), len(pages) // 2):
                update = followed.update_since(pages[i].n, pages[i].journal)
                if update is None:
                    pages[i] = page(followed.whole())
                else:
                    pages[i].merge(update)
                assert repr(pages[i].state()) == repr(page(followed.whole()).state())
            if torn:
                journal.write_bytes(data)
            before = data
        assert not followed.error
        told.writer.close()


def whole(told):
    followed = FollowedJournal(told.write())
    followed.refresh()
    return followed


def test_an_update_has_the_rows_that_changed(told, page):
    trials = [told.add({"lr": 0.1 * i}) for i in range(5)]
    for trial in trials:
        told.start(trial)
    followed = whole(told)
    first = page(followed.whole())
    told.report(trials[3], loss=0.5)
    told.write()
    assert followed.refresh() == first.n + 1
    message = followed.update_since(first.n, first.journal)
    assert message is not None
    from overtone.ui.data.binary_message import array_at, decoded

    header, data = decoded(message)
    assert array_at(data, header["arrays"][0]).tolist() == [3]
    first.merge(message)
    assert first.cells["metric:loss"] == [None, None, None, 0.5, None]
    assert first.cells["fact:n_results"] == [0, 0, 0, 1, 0]
    assert followed.update_since(followed.n, first.journal) is not None  # nothing new: no rows


def test_brackets_are_a_column_once_a_ruling_names_one(told, page):
    trials = [told.add({"lr": 0.1 * i}) for i in range(3)]
    for trial in trials:
        told.start(trial)
        told.report(trial, loss=1.0)
    followed = whole(told)
    first = page(followed.whole())
    assert "fact:bracket" not in first.cells
    told.report_stopped(trials[1], Why("asha", t=2, rung=1, bracket=2), loss=1.0)
    told.write()
    followed.refresh()
    first.merge(followed.update_since(first.n, first.journal) or followed.whole())
    assert first.cells["fact:bracket"] == [None, 2, None]
    assert page(followed.whole()).cells["fact:bracket"] == [None, 2, None]


def test_what_the_server_does_not_know_needs_all_columns(told):
    told.run({"lr": 0.1}, {"loss": 1.0})
    followed = whole(told)
    assert followed.update_since(followed.n - 1, followed.key) is None  # from before it began to read
    assert followed.update_since(followed.n + 1, followed.key) is None  # a later record than there is
    assert followed.update_since(followed.n, "other-1") is None
    assert followed.update_since(followed.n, followed.key) is not None


def test_a_column_that_turns_into_categories_needs_all_columns(told, page):
    told.run({"x": 1.5}, {"loss": 1.0})
    followed = whole(told)
    first = page(followed.whole())
    told.run({"x": "auto"}, {"loss": 2.0})
    told.write()
    followed.refresh()
    assert followed.update_since(first.n, first.journal) is None
    assert page(followed.whole()).cells["param:x"] == ["1.5", "'auto'"]


def test_another_journal_of_the_same_length_needs_all_columns(told, page, tmp_path):
    told.run({"x": 1.5}, {"loss": 1.0})
    followed = whole(told)
    first = page(followed.whole())
    other = ScriptedJournal(tmp_path / "other")
    other.run({"x": 2.5}, {"loss": 3.0})
    other.write().replace(told.journal)
    followed.refresh()
    assert followed.n == first.n
    assert followed.update_since(first.n, first.journal) is None
    assert page(followed.whole()).cells["param:x"] == [2.5]


def test_an_append_that_was_taken_back(told, page):
    told.run({"x": 1.5}, {"loss": 1.0})
    followed = whole(told)
    size = told.journal.stat().st_size
    trial = told.add({"x": 2.5})
    told.start(trial)
    told.report(trial, loss=0.5)
    told.write()
    followed.refresh()
    first = page(followed.whole())
    assert first.cells["metric:loss"] == [1.0, 0.5]
    lines = told.journal.read_bytes()
    told.journal.write_bytes(lines[:size])  # as a driver does whose append failed
    followed.refresh()
    assert len(page(followed.whole()).ids) == 1
    told.journal.write_bytes(lines)
    followed.refresh()
    assert followed.update_since(first.n, first.journal) is None
    assert page(followed.whole()).cells == first.cells


def test_a_damaged_journal_is_a_state(told, page):
    told.run({"x": 1.5}, {"loss": 1.0})
    followed = whole(told)
    data = told.journal.read_bytes()
    with told.journal.open("ab") as file:
        file.write(b'{"n":99,"e":"reported"}\n')
    followed.refresh()
    assert "damaged" in followed.error
    assert page(followed.whole()).ids  # what was read before stays
    told.journal.write_bytes(data)
    followed.refresh()
    assert followed.error == ""


def test_types_are_as_small_as_they_show_the_same(monkeypatch):
    monkeypatch.setattr(column_types, "EXACT_TRIALS", 100)
    fits = column_types.fits_float32
    some = np.linspace(0, 1, 1000)
    assert fits(some, False)
    assert not fits(some[:50], False)
    assert not fits(1 + 1e-12 * some, False)  # they would all be the same
    assert fits(np.full(1000, np.nan), False)
    assert fits(np.arange(1000.0), True)
    assert not fits(np.arange(1000.0) + 2**24, True)
    assert not fits(np.r_[some, 1e300], False)


def test_a_change_of_the_goal_needs_all_columns(told, page):
    told.run({"x": 1.0}, {"loss": 1.0, "acc": 0.5})
    followed = whole(told)
    first = page(followed.whole())
    assert first.goals == [["loss", "min"]]
    assert "metric:loss:min" in first.cells
    assert "metric:acc:min" not in first.cells


def test_a_page_has_so_many_columns_at_most(told, page):
    from overtone.ui.data.binary_message import decoded
    from overtone.ui.data.keyed_columns import MOST_METRICS, MOST_PARAMS

    told.run(
        {f"x{i}": float(i) for i in range(MOST_PARAMS + 5)},
        {**{f"m{i}": 1.0 for i in range(MOST_METRICS + 1)}, "loss": 1.0},
    )
    message = whole(told).whole()
    keys = [one["key"] for one in decoded(message)[0]["arrays"]]
    assert sum(key.startswith("param:") for key in keys) == MOST_PARAMS
    assert "metric:loss:min" in keys  # objectives are never left out
    assert decoded(message)[0]["left_out"] == 5 + 3  # time_total_s is a metric, too


def test_a_category_with_a_long_text_is_cut(told, page):
    told.run({"x": "long " * 1000}, {"loss": 1.0})
    assert len(page(whole(told).whole()).cells["param:x"][0]) < 400


def test_a_column_that_gives_way_to_another_needs_all_columns(told, page, monkeypatch):
    monkeypatch.setattr("overtone.ui.data.keyed_columns.MOST_PARAMS", 2)
    told.run({"a": 1.0, "c": 1.0}, {"loss": 1.0})
    followed = whole(told)
    first = page(followed.whole())
    told.run({"a": 1.0, "b": 2.0, "c": 1.0}, {"loss": 1.0})
    told.write()
    followed.refresh()
    assert followed.update_since(first.n, first.journal) is None
    assert "param:b" in page(followed.whole()).cells


def test_columns_that_were_handed_out_stay_as_they_are(told):
    trial = told.run({"x": 1.5}, {"loss": 1.0})
    followed = whole(told)
    before = followed.columns()
    n, loss = before.n_records, before.metrics["loss"]
    told.report(trial, loss=0.5)
    told.run({"x": 2.5}, {"loss": 3.0})
    told.write()
    followed.refresh()
    assert (before.n_records, len(before), loss.last.tolist(), loss.min.tolist()) == (n, 1, [1.0], [1.0])
    after = followed.columns()
    assert after.metrics["loss"].last.tolist() == [0.5, 3.0]
    assert after is followed.columns()  # nothing new: no copy
    assert before.curve(0, "loss")[1].tolist() == [1.0, 0.5]  # curves are read when they are asked for


def test_readers_and_pages_in_many_threads(told, page):
    import threading

    trials = [told.add({"x": float(i)}) for i in range(20)]
    for trial in trials:
        told.start(trial)
    followed = whole(told)
    failures, is_over = [], threading.Event()

    def follow():
        try:
            own = page(followed.whole())
            while not is_over.is_set():
                update = followed.update_since(own.n, own.journal)
                if update is None:
                    own = page(followed.whole())
                else:
                    own.merge(update)
                followed.columns().curve(3, "loss")
            update = followed.update_since(own.n, own.journal)
            assert update is not None
            own.merge(update)
            assert own.state() == page(followed.whole()).state()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=follow) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(60):
        told.report(trials[i % 20], loss=1.0 / (i + 1))
        if i % 10 == 0:
            told.run({"x": 1.0, f"late{i}": "a"}, {"loss": 1.0})
        told.write()
        followed.refresh()
    is_over.set()
    for thread in threads:
        thread.join()
    assert not failures
