from __future__ import annotations

import json
import math
from zlib import crc32

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from overtone.core import messages as m
from overtone.core.limits import Limits
from overtone.core.resources import Placement, Resources
from overtone.core.types import Checkpoint, Why
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.seals import sealed, unsealed
from overtone.journal.text import LazyMetrics, dumps

WHY = Why("asha", 4.0, 4.0, -math.inf, 3, 4, ("a", "b"), "note")
METRICS = {"loss": 0.25, "training_iteration": 3, "nested": {"a": [1, 2]}, "done": False}
EVENTS = [
    m.CapacityChanged(0.0, {"node": {"cpu": 2.0, "memory": 1e11}}),
    m.Suggested(0.5, 3, {"lr": 0.1, "layers": [1, 2]}),
    m.Suggested(0.5, 4, None),
    m.Started(1.0, "t", 0, "node", 12, "host", Checkpoint("t", 3, "/c")),
    m.Reported(1.5, "t", 0, 3, METRICS, Checkpoint("t", 3, "/c"), dumps(METRICS)),
    m.Reported(1.5, "t", 0, 3, METRICS, None, dumps(METRICS)),
    m.Saved(2.0, "t", 0, Checkpoint("t", 3, "/c")),
    m.SaveFailed(2.0, "t", 0, "no room"),
    m.Discarded(2.5, "/c"),
    m.Noticed(2.5, "t", 0, 30.0),
    m.Noticed(2.5, "t", 0, float("inf"), moves=True),
    m.Ended(3.0, "t", 0, "raised", 'KeyError: "ü"', "Traceback\n  line"),
    m.Requested(3.0, "stop_trial", "t", "please"),
    m.Requested(3.0, "add", "t", "", "me", "id", {"lr": 0.2}, Resources.of({"gpu": 1}), "s", None, 2.0, True),
    m.Requested(3.0, "set_limits", limits={"max_concurrent": None, "num_samples": 4, "time_budget_s": 1.5}),
    m.Tick(4.0),
    m.Interrupted(5.0),
    m.Resumed(6.0, Limits(total=3, max_failures=-1), "restart"),
]
CHOICES = (
    m.Added(
        "t",
        0,
        {"lr": 0.1},
        Resources.of([{"cpu": 1, "gpu": 0.5}, {}], "SPREAD"),
        "0_lr=0.1",
        1.5,
        "s",
        WHY,
        "name",
    ),
    m.Ruled("t", 3, "restart", WHY, {"lr": 0.2}, "s"),
    m.Ruled("t", math.inf, "redone"),
    m.Moved(
        "t",
        "STARTING",
        1,
        WHY,
        Placement(("node", "node"), (((0, 0.5),), ())),
        Checkpoint("t", 3, "/c"),
        "bad",
    ),
    m.Noted("take loss"),
    m.Steered("t", is_held=False, priority=0.0),
    m.Steered(limits=Limits(total=3, time_budget_s=1.5)),
)


def decoded(line: bytes, codec: Codec | None = None, lazy: bool = False):
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    body = unsealed(line[:-1])
    assert body is not None
    return (codec or Codec()).decode(body, lazy)


@pytest.mark.parametrize("choices", [(), CHOICES])
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_message_comes_back(event, choices) -> None:
    record = m.Record(7, event, choices)
    found = decoded(Codec().encode(record))
    assert found == record
    if isinstance(event, m.Reported):
        assert found.event.raw == event.raw


def test_every_event_and_choice_is_in_this_test() -> None:
    from overtone.journal.codec import _CHOICES, _EVENTS

    assert {type(event) for event in EVENTS} == set(_EVENTS.values())
    assert {type(choice) for choice in CHOICES} == set(_CHOICES.values())


def test_the_line_of_a_report() -> None:
    event = m.Reported(1.5, "358bb_00006", 0, 3, {"loss": 0.5}, None, '{"loss":0.5}')
    body = (
        b'{"n":7,"e":"reported","time":1.5,"trial_id":"358bb_00006","attempt":0,"t":3,"metrics":{"loss":0.5}'
    )
    assert Codec().encode(m.Record(7, event)) == body + b',"crc":"%08x"}\n' % crc32(body)


def test_the_line_of_a_request_without_new_fields() -> None:
    event = m.Requested(3.0, "stop_trial", "t", "please")
    body = b'{"n":7,"e":"requested","time":3.0,"what":"stop_trial","trial_id":"t","note":"please"'
    assert Codec().encode(m.Record(7, event)) == sealed(body)


def test_the_bracket_of_a_reason_is_written_only_where_there_is_one() -> None:
    codec = Codec()
    without, with_one = (m.Ruled("t", 1, "stop", Why("asha", rung=1, bracket=one)) for one in (None, 2))
    assert codec.encode_choices([without]) == (
        '{"c":"ruled","trial_id":"t","t":1,"what":"stop","why":{"rule":"asha","rung":1}}'
    )
    assert codec.encode_choices([with_one]).endswith('"why":{"rule":"asha","rung":1,"bracket":2}}')
    record = m.Record(7, m.Tick(4.0), (with_one,))
    assert codec.decode(unsealed(codec.encode(record)[:-1]) or b"") == record


def test_raw_is_taken_as_it_is_and_metrics_where_there_is_none_or_it_has_lines() -> None:
    for raw in ("", '{\n"loss": 0.5}'):
        event = m.Reported(1.5, "t", 0, 3, {"loss": 0.5}, None, raw)
        assert b'"metrics":{"loss":0.5}' in Codec().encode(m.Record(7, event))
    event = m.Reported(1.5, "t", 0, 3, {"loss": 0.5}, None, '{"loss": 5e-1}')
    assert b'"metrics":{"loss": 5e-1}' in Codec().encode(m.Record(7, event))


def test_lazy_reports_leave_metrics_alone() -> None:
    for checkpoint in (None, Checkpoint("t", 3, "/c")):
        line = Codec().encode(m.Record(7, m.Reported(1.5, "t", 0, 3, METRICS, checkpoint)))
        event = decoded(line, lazy=True).event
        assert isinstance(event.metrics, LazyMetrics)
        assert event.metrics == METRICS
        assert (event.raw, event.checkpoint) == ("", checkpoint)


def test_metrics_are_found_behind_a_config_that_has_a_key_of_that_name() -> None:
    config = {"a": 1, "metrics": {"x": '","metrics":{"'}}
    ruled = m.Ruled("t", 3, "restart", None, config)
    record = m.Record(7, m.Reported(1.5, "t", 0, 3, {"metrics": {"metrics": 1}}), (ruled,))
    assert decoded(Codec().encode(record)) == record


@pytest.mark.parametrize("trial_id", ['a"b', "a\\b", "ü", "a,b"])
def test_odd_trial_ids(trial_id) -> None:
    record = m.Record(7, m.Reported(1.5, trial_id, 0, 3, {"a": 1}))
    assert decoded(Codec().encode(record)) == record


def test_times_may_be_integers_and_numpy_s() -> None:
    for time in (2, np.float64(2.0), np.float32(2.0)):
        record = m.Record(7, m.Reported(time, "t", 0, 3, {"a": 1}))
        assert decoded(Codec().encode(record)).event.time == 2.0


def test_half_a_surrogate_pair_survives() -> None:
    raw = '{"a":"\ud800"}'
    assert decoded(Codec().encode(m.Record(7, m.Reported(1.5, "t", 0, 3, {}, None, raw)))).event.metrics == {
        "a": "\ud800"
    }


def test_configs_go_through_the_space() -> None:
    codec = Codec(lambda config: {"at": list(config)}, lambda data: dict.fromkeys(data["at"], "back"))
    record = m.Record(7, m.Suggested(0.0, 0, {"f": print}), (CHOICES[1],))
    line = codec.encode(record)
    assert line.count(b'"config":{"at":["f"]}') == 1
    assert decoded(line, codec).event.config == {"f": "back"}
    assert decoded(line, codec).choices[0].config == {"lr": "back"}
    assert codec.encode(m.Record(7, m.Suggested(0.0, 0, None))).count(b'"config":null') == 1


def test_a_config_that_changed_in_place_is_encoded_anew() -> None:
    codec, config = Codec(), {"lr": 0.1}
    codec.encode(m.Record(2, m.Suggested(0.0, 0, config)))
    config["lr"] = 0.2
    assert b"0.2" in codec.encode(m.Record(3, m.Suggested(0.0, 0, config)))


def test_old_and_new_fields() -> None:
    """A journal of an older version lacks fields, one of a newer one has more: both open."""
    body = b'{"n":7,"e":"ended","time":1.0,"trial_id":"t","attempt":0,"cause":"returned"'
    assert Codec().decode(body) == m.Record(7, m.Ended(1.0, "t", 0, "returned"))
    moved = b'{"c":"moved","trial_id":"t","status":"ERROR","attempt":1,"hue":1,"why":{"rule":"x","y":2}}'
    body += b',"mood":"good","choices":[%b]' % moved
    assert Codec().decode(body).choices == (m.Moved("t", "ERROR", 1, Why("x")),)


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(StorageError, match=r"record 7 is a 'dreamt'.*pip install -U"):
        Codec().decode(b'{"n":7,"e":"dreamt","time":1.0')


def test_facts_are_no_records() -> None:
    line = Codec().encode_fact(1, "header", {"format": 1})
    assert json.loads(line)["format"] == 1
    assert decoded(line) is None


def test_a_changed_byte_is_noticed() -> None:
    line = sealed(b'{"n":1')[:-1]
    assert unsealed(line) == b'{"n":1'
    for at in range(len(line)):
        for bit in range(8):
            changed = line[:at] + bytes([line[at] ^ 1 << bit]) + line[at + 1 :]
            assert unsealed(changed) is None


def test_a_checkpoint_has_its_size_and_one_of_an_older_journal_opens():
    saved = Checkpoint("t", 3, "u", 1234, is_automatic=True)
    line = Codec().encode(m.Record(1, m.Saved(1.0, "t", 0, saved)))
    assert Codec().decode(unsealed(line[:-1])).event.checkpoint == saved
    old = b'{"n":1,"e":"saved","time":1.0,"trial_id":"t","attempt":0,"checkpoint":{"trial_id":"t","t":3,"uri":"u"}'
    assert Codec().decode(old).event.checkpoint == Checkpoint("t", 3, "u")


@given(st.floats(0.0) | st.integers(0, 10**16).map(lambda n: n / 1e6))
@example(0.0)
@example(1e-6)
@example(0.001)
@example(100.0)
@example(999_999_999.999999)
@example(0.1 + 0.2)
def test_times_are_written_as_their_shortest_text(time: float) -> None:
    if math.isfinite(time):
        assert f'"time":{time!r}'.encode() in Codec().encode(m.Record(2, m.Tick(time)))
