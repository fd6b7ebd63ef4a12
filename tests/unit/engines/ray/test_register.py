"""The register tells every run what the others say, soon, and forgets those that have fallen silent."""

from __future__ import annotations

import asyncio

import pytest

from overtone.engines.ray import register
from overtone.engines.ray.register import Runs


def test_news_end_the_waiting_of_all_others() -> None:
    async def script() -> None:
        runs = Runs()
        version, others = await runs.listen("a", "one", 0)
        assert others == {}
        waiting = asyncio.create_task(runs.listen("a", "one", version))
        await asyncio.sleep(0)
        await runs.say("b", "two")
        assert (await waiting)[1] == {"b": "two"}

    asyncio.run(script())


def test_what_is_said_again_is_no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "BEAT_S", 0.0)

    async def script() -> None:
        runs = Runs()
        version, _ = await runs.listen("a", "one", 0)
        await runs.say("a", "one")
        assert (await runs.listen("a", "one", version))[0] == version

    asyncio.run(script())


def test_who_has_fallen_silent_is_forgotten() -> None:
    async def script() -> None:
        runs = Runs()
        for name in "bc":
            await runs.say(name, name)
        assert (await runs.listen("a", "a", 0))[1] == {"b": "b", "c": "c"}
        runs._heard_at["b"] -= register.SILENT_S
        assert (await runs.listen("a", "a", 0))[1] == {"c": "c"}

    asyncio.run(script())
