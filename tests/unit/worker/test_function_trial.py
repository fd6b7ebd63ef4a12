"""Functions in all the forms that a trainable may have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.errors import TrainableError
from overtone.testing.fake_channel import FakeChannel, halt, start
from overtone.testing.folder_store import FolderStore
from overtone.worker.protocol import Order, decode
from overtone.worker.server.run_trial import run_trial
from overtone.worker.session.current import current
from overtone.worker.session.session import Session
from overtone.worker.trainables.function_trial import arguments
from overtone.worker.trainables.with_parameters import with_parameters

CONFIG = {"lr": 0.5}


def session() -> Session:
    return Session(FakeChannel(), Job(None, "train", Path("exp")), start(dict(CONFIG)))


def run(trainable: Any, *orders: Order, until_t: float = 99) -> FakeChannel:
    channel = FakeChannel(orders)
    job = Job(trainable, "train", Path("exp"), store=FolderStore(Path("store")))
    run_trial(channel, job, start(dict(CONFIG), until_t=until_t))
    return channel


def reported(channel: FakeChannel, key: str) -> list[Any]:
    return [decode(one[4])[key] for one in channel.sent if one[0] == "reported"]


class Callable_:
    def __call__(self, config: Any) -> Any:
        return {"lr": config["lr"]}

    def method(self, config: Any) -> Any:
        return {"lr": config["lr"]}


def with_config(config: Any) -> Any:
    return {"lr": config["lr"]}


def with_another_name(c: Any) -> Any:
    return {"lr": c["lr"]}


def with_reporter(config: Any, reporter: Any) -> None:
    reporter(lr=config["lr"])


def with_checkpoint_dir(config: Any, checkpoint_dir: Any = None) -> None:
    current().report(lr=config["lr"] if checkpoint_dir is None else None)


def with_checkpoint(config: Any, checkpoint: Any = None) -> None:
    current().report(lr=config["lr"] if checkpoint is None else None)


def with_tune(tune: Any) -> None:
    tune.report(lr=tune.params["lr"])


def with_nothing() -> Any:
    return {"lr": current().params["lr"]}


def with_keyword(*, config: Any) -> Any:
    return {"lr": config["lr"]}


def with_default(config: Any, epochs: int = 3) -> Any:
    return {"lr": config["lr"] if epochs == 3 else None}


def with_more(factor: float, config: Any, shift: float) -> Any:
    return {"lr": config["lr"] * factor + shift}


def with_anything(*args: Any, **kwargs: Any) -> Any:
    return {"lr": args[0]["lr"] if not kwargs else None}


def renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(settings: Any) -> Any:
        return function(settings)

    return wrapper


@pytest.mark.parametrize(
    "trainable",
    [
        with_config, with_another_name, with_reporter, with_checkpoint_dir, with_checkpoint, with_tune,
        with_nothing, lambda cfg, rprtr: rprtr(lr=cfg["lr"]),
        with_keyword, with_default, with_anything, lambda config: {"lr": config["lr"]},
        Callable_(), Callable_().method,
        functools.partial(with_more, 1.0, shift=0.0), with_parameters(with_more, factor=1.0, shift=0.0),
        functools.partial(with_default, epochs=3), renamed(with_config),
    ],
)  # fmt: skip
def test_every_form_gets_what_it_asks_for(trainable: Any) -> None:
    channel = run(trainable)
    assert (reported(channel, "lr"), channel.sent[-1][3:]) == ([0.5], ("returned", "", ""))


def test_yields_and_returns_are_reports() -> None:
    def train(config: Any) -> Any:
        yield 1
        yield {"_metric": 2}
        return 3

    assert reported(run(train), "_metric") == [1, 2, 3]


def test_a_generator_is_closed_when_it_is_halted() -> None:
    closed: list[bool] = []

    def train(config: Any) -> Any:
        try:
            while True:
                yield 1
        finally:
            closed.append(True)

    channel = run(train, halt(), until_t=0)
    assert (closed, channel.sent[-1][3]) == ([True], "halted")


def test_a_bare_number_is_a_result() -> None:
    assert reported(run(lambda config: 7), "_metric") == [7]


def test_the_return_value_does_not_matter_after_reports() -> None:
    def train(config: Any) -> Any:
        current().report(a=1)
        return "model"

    assert run(train).sent[-1][3] == "returned"


def test_but_it_does_when_nothing_was_reported() -> None:
    channel = run(lambda config: "model")
    assert channel.sent[-1][3] == "raised"
    assert "returned str 'model' and reported nothing" in channel.sent[-1][4]


def test_a_coroutine_is_an_error() -> None:
    async def train(config: Any) -> None: ...

    assert "asyncio.run" in run(train).sent[-1][4]


def test_a_signature_that_cannot_be_called_shows_the_forms() -> None:
    def train(config: Any, data: Any) -> None: ...

    with pytest.raises(TrainableError) as caught:
        arguments(train, session(), {})
    text = str(caught.value)
    assert text.startswith("train(config: 'Any', data: 'Any') -> 'None' cannot be called")
    assert "def train(config, reporter)" in text
    assert "tune.with_parameters(train, data=...)" in text.splitlines()[0]  # the line of a summary


def test_a_parameter_that_nobody_takes_is_an_error() -> None:
    with pytest.raises(TrainableError, match=r"no argument 'data'.*def with_config\(config, data\)"):
        arguments(with_config, session(), {"data": 1})


def test_parameters_may_be_named_like_nothing_else() -> None:
    def train(config: Any, reporter: Any, tune: Any) -> None: ...

    positional, keywords = arguments(train, session(), {"reporter": 1, "tune": 2})
    assert (positional, keywords) == ([CONFIG], {"reporter": 1, "tune": 2})


def test_what_is_written_in_c_gets_the_config() -> None:
    assert arguments(min, session(), {}) == ([CONFIG], {})
