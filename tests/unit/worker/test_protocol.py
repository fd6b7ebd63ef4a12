"""Frames, the socket channel, the encoding of metrics, and messages as events."""

from __future__ import annotations

import math
import socket

import pytest

from overtone.core import messages as m
from overtone.core.resources import Placement, Resources
from overtone.core.types import Checkpoint
from overtone.testing.fake_channel import halt, proceed, start
from overtone.worker import protocol
from overtone.worker.message_codec import TRIAL, message_reader


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 10_000])
def test_frames_cut_anywhere_come_back_whole(size: int) -> None:
    orders = [start({"lr": 0.1}), proceed(3), start({"name": "x" * 3000}), None]
    stream = b"".join(map(protocol.order_frame, orders))
    reader = protocol.order_reader()
    read = [one for i in range(0, len(stream), size) for one in reader.feed(stream[i : i + size])]
    assert read == orders


def test_a_lambda_in_a_config_travels_by_value() -> None:
    (order,) = protocol.order_reader().feed(protocol.order_frame(start({"activation": lambda x: x + 1})))
    assert order.config["activation"](1) == 2


def test_a_socket_channel_sends_and_receives() -> None:
    near, far = socket.socketpair()
    channel = protocol.SocketChannel(near)
    assert channel.receive(wait=False) is protocol.NOTHING
    channel.send(("saved", "t", 0, Checkpoint("t", 1, "uri")))
    assert message_reader(TRIAL).feed(far.recv(1 << 16)) == [("saved", "t", 0, Checkpoint("t", 1, "uri"))]
    far.sendall(protocol.order_frame(proceed(3)) + protocol.order_frame(halt()) + protocol.order_frame(None))
    assert channel.receive(wait=True) == proceed(3)
    assert channel.receive(wait=False) == halt()
    assert channel.receive(wait=True) is None
    far.close()
    with pytest.raises(EOFError):
        channel.receive(wait=True)
    with pytest.raises(EOFError):
        channel.send(("ended", "t", 0, "returned", "", ""))
    channel.close()


def test_looks_are_rationed_to_one_a_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(protocol, "monotonic", lambda: now[0])
    near, far = socket.socketpair()
    channel = protocol.SocketChannel(near)
    assert channel.receive(wait=False) is protocol.NOTHING
    far.sendall(protocol.order_frame(proceed()))
    assert channel.receive(wait=False) is protocol.NOTHING
    now[0] += protocol.LOOK_EVERY_S
    assert channel.receive(wait=False) == proceed()
    channel.close()
    far.close()


def test_numbers_that_json_lacks_are_tagged() -> None:
    metrics = {"a": math.nan, "b": [math.inf, {"c": -math.inf}], "d": 1.5, "e": None, "f": "é"}
    raw = protocol.encode(metrics)
    assert '{"__float__":"nan"}' in raw
    decoded = protocol.decode(raw)
    assert math.isnan(decoded.pop("a"))
    assert decoded == {key: value for key, value in metrics.items() if key != "a"}


def test_a_dict_that_only_looks_like_a_tag_stays() -> None:
    metrics = {"a": {"__float__": "big"}, "b": {"__float__": "nan", "more": 1}}
    assert protocol.decode(protocol.encode(metrics)) == metrics


def test_encode_refuses_what_is_not_data() -> None:
    with pytest.raises(TypeError):
        protocol.encode({"a": object()})


def test_messages_become_events() -> None:
    saved = Checkpoint("t", 1, "uri")
    name = ("t", 2)
    assert [
        protocol.event(message, 5.0, "node")
        for message in [
            ("started", *name, 7, "host", None),
            ("reported", *name, 1, '{"a":1}', saved),
            ("saved", *name, saved),
            ("save_failed", *name, "full"),
            ("ended", *name, "raised", "line", "trace"),
        ]
    ] == [
        m.Started(5.0, *name, "node", 7, "host", None),
        m.Reported(5.0, *name, 1, {"a": 1}, saved, '{"a":1}'),
        m.Saved(5.0, *name, saved),
        m.SaveFailed(5.0, *name, "full"),
        m.Ended(5.0, *name, "raised", "line", "trace"),
    ]
    with pytest.raises(ValueError, match="cheered"):
        protocol.event(("cheered", *name), 5.0, "node")


@pytest.mark.parametrize(
    "order",
    [
        m.Start("a", 1, 2, {"x": 0.5}, Resources.of({"cpu": 1, "gpu": 0.5}), Placement(("n",), (((0, 0.5),),)),
                Checkpoint("a", 3, "uri"), 4.0, "tag", "name", (Checkpoint("a", 2, "older"),), (("GPUS", "GPU-1"),)),
        m.Proceed("a", 1, 2.0, True, {"x": 1}),
        m.Halt("a", 1, save=True, park=True),
    ],
)  # fmt: skip
def test_orders_travel_with_all_their_fields_and_without_their_names(order: protocol.Order) -> None:
    data = protocol.order_frame(order)
    assert protocol.order_reader().feed(data) == [order]
    assert b"trial_id" not in data
