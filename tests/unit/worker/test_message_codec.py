"""What a trial sends is read without running any of it, and is a message or a MessageError."""

from __future__ import annotations

import json
import pickle
from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overtone.core.sizes import LONGEST_LINE, MOST_LEVELS
from overtone.core.types import Checkpoint
from overtone.errors import MessageError, TrainableError
from overtone.worker.frames import MARK, framed
from overtone.worker.message_codec import (
    CALLER,
    LONGEST_TEXT,
    SERVER,
    TRIAL,
    Message,
    Vocabulary,
    message_frame,
    message_reader,
    read_message,
)
from overtone.worker.protocol import decode, encode, event

CHECKPOINT = Checkpoint("t", 3, "file:///a/b", 10, True)
MESSAGES: list[tuple[Vocabulary, Message]] = [
    (TRIAL, ("started", "t", 0, 12, "host", None)),
    (TRIAL, ("started", "t", 1, 12, "host", CHECKPOINT)),
    (TRIAL, ("reported", "t", 0, 3, '{"loss":0.5,"text":"a\\nb"}', None)),
    (TRIAL, ("reported", "t", 0, 3, "{}", CHECKPOINT)),
    (TRIAL, ("saved", "t", 0, CHECKPOINT)),
    (TRIAL, ("save_failed", "t", 0, "disk full: \udcff é\n")),
    (TRIAL, ("ended", "t", 0, "returned", "", "")),
    (TRIAL, ("ended", "t", 0, "raised", "ValueError", "Traceback\n")),
    (CALLER, ("hello", "t", 0, 12, True)),
    (CALLER, ("used", "t", 0, 1.5, 2.0)),
    (CALLER, ("node", "10.0.0.1", 12, False)),
    (CALLER, ("machine", "", [0.5, None])),
    (CALLER, ("output", "t", "train_t", 12, "stdout", ["a", "b"])),
    (CALLER, ("noticed", "t", 0, 3.0)),
    (CALLER, ("hopeless", "t", 0, "e", "tb")),
    (SERVER, ("ready", True, "")),
    (SERVER, ("exited", 3, -9)),
    (SERVER, ("limit", 3, 1, "too long")),
]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 10_000])
def test_messages_cut_anywhere_come_back_whole(size: int) -> None:
    messages = [message for words, message in MESSAGES if words is TRIAL]
    stream = b"".join(map(message_frame, messages))
    reader = message_reader(TRIAL)
    assert [one for i in range(0, len(stream), size) for one in reader.feed(stream[i : i + size])] == messages


@pytest.mark.parametrize(("words", "message"), MESSAGES)
def test_every_message_travels(words: Vocabulary, message: Message) -> None:
    assert message_reader(words).feed(message_frame(message)) == [message]


def test_after_what_is_no_message_nothing_is_read() -> None:
    reader = message_reader(TRIAL)
    good, bad = message_frame(("save_failed", "t", 0, "full")), framed(b"[]")
    first, wrong = reader.feed(good + bad + good)
    assert first == ("save_failed", "t", 0, "full")
    assert wrong == ("wrong", "'[]' is not a message (list index out of range)")
    assert reader.feed(good) == []


def test_a_pickle_is_not_run() -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (pytest.fail, ("it was run",))

    with pytest.raises(MessageError):
        read_message(pickle.dumps(Bomb()), TRIAL)


def test_a_frame_that_is_too_long_is_refused_by_its_length() -> None:
    (wrong,) = message_reader(TRIAL).feed(MARK + (LONGEST_LINE + 1).to_bytes(4, "little"))
    assert wrong[0] == "wrong"
    assert f"at most {LONGEST_LINE}" in wrong[1]


def test_a_report_that_is_too_long_is_refused_where_it_is_made() -> None:
    with pytest.raises(TrainableError, match="at most 64 MiB"):
        message_frame(("reported", "t", 0, 1, encode({"text": "x" * LONGEST_LINE}), None))


def test_an_error_that_is_too_long_is_cut() -> None:
    long = ("ended", "t", 0, "raised", "ValueError", "x" * (LONGEST_LINE + 1))
    assert message_reader(TRIAL).feed(message_frame(long)) == [(*long[:5], "x" * LONGEST_TEXT)]


@pytest.mark.parametrize(
    "raw",
    ["", "[]", "1", "{", "{}{}", '{"a":NaN}', '{"a":Infinity}', '{"a":1} ', '{"__float__":"nan"}',
     f'{{"a":{"[" * 5000}{"]" * 5000}}}', f'{{"a":{"[" * (MOST_LEVELS + 1)}{"]" * (MOST_LEVELS + 1)}}}'],
)  # fmt: skip
def test_metrics_that_are_none(raw: str) -> None:
    with pytest.raises(MessageError, match="are not a result"):
        decode(raw)


@pytest.mark.parametrize("value", [[1], {"a": 1}, None, 3, "big"])
def test_what_only_looks_like_a_tag_stays(value: object) -> None:
    assert decode(encode({"x": {"__float__": value}})) == {"x": {"__float__": value}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(sorted(TRIAL)),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)
BODIES = st.binary(max_size=300) | st.builds(
    lambda value, tail: json.dumps(value).encode() + tail,
    JSON,
    st.sampled_from([b"", b"\n{}", b"\n{", b"\n"]),
)
FRAMES = [message_frame(message) for words, message in MESSAGES if words is TRIAL]


def test_a_report_is_no_message_of_a_server() -> None:
    with pytest.raises(MessageError):
        read_message(b'["reported","",0,0,null]\n', SERVER)


@settings(max_examples=100, deadline=None)
@given(body=BODIES, words=st.sampled_from([TRIAL, CALLER, SERVER]))
def test_bytes_are_a_message_or_an_error(body: bytes, words: Vocabulary) -> None:
    try:
        message = read_message(body, words)
    except MessageError as error:
        assert len(str(error)) < 1000
        return
    check_fields(words, message)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_message_with_one_other_field_is_a_message_or_an_error(data: st.DataObject) -> None:
    words, message = data.draw(st.sampled_from(MESSAGES))
    fields = [list(astuple(CHECKPOINT)) if one is CHECKPOINT else one for one in message]
    raw = fields.pop(4) if message[0] == "reported" else None
    fields[data.draw(st.integers(0, len(fields) - 1))] = data.draw(JSON)
    body = json.dumps(fields).encode() + (b"" if raw is None else b"\n" + raw.encode())
    try:
        check_fields(words, read_message(body, words))
    except MessageError:
        pass


@settings(max_examples=100, deadline=None)
@given(chunks=st.lists(st.binary(max_size=40) | st.just(MARK) | st.sampled_from(FRAMES)))
def test_a_stream_of_anything_is_messages_and_then_one_error(chunks: list[bytes]) -> None:
    reader = message_reader(TRIAL)
    found = [one for chunk in chunks for one in reader.feed(chunk)]
    assert all(one[0] in TRIAL for one in found[:-1])
    assert not found or found[-1][0] in (*TRIAL, "wrong")


def check_fields(words: Vocabulary, message: Message) -> None:
    """Every field is what its reader makes of it, so that whoever takes the message need not look."""
    assert len(message) == 1 + len(words[message[0]])
    if words is TRIAL:
        try:
            made = event(message, 0.0, "node")
        except MessageError:
            assert message[0] == "reported"
        else:
            assert made.time == 0.0


def test_plain_beginnings_and_ends_are_words_of_trials_alone() -> None:
    for body in (b'["started","t",0,12,"host",null]', b'["ended","t",0,"returned","",""]'):
        assert read_message(body, TRIAL)[1:3] == ("t", 0)
        with pytest.raises(MessageError):
            read_message(body, SERVER)
    for body in (
        b'["started","t",0,"returned","",""]',
        b'["ended","t",0,12,"host",null]',
        b'["ended","\n",0,"returned","",""]',
    ):
        with pytest.raises(MessageError):
            read_message(body, TRIAL)
