"""Configs with random mistakes: each is read, or is an error with a line, and nothing else is ever raised."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from overtone.cluster.config import ConfigError
from overtone.cluster.config_reading import parse_config
from overtone.cluster.plan import make_plan
from overtone.cluster.plan_text import plan_text
from overtone.cluster.ray_form import ray_yaml

pytest.importorskip("yaml")

FOLDER = Path(__file__).parents[2] / "data" / "clusters"
TEXTS = [path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yaml"))]
WORDS = [
    "null", "true", "-1", "[]", "{}", '"x"', "3", "1e9", ".nan", "{a: 1}", "[1, 2]", "*a", "&a", "!!int", "? ", "- ",
    "\t", "a: b", "5m", "~", "1:30", "2024-01-01", '"\\0"', "0x1F", "%", "|", "\x00",
]  # fmt: skip
VALUE = re.compile(r"(?<=: )[^,{}\[\]\n]+|(?<=- )[^\n]+|\[[^\]]*\]|\{[^}]*\}")


def mutated(text: str, rng: random.Random) -> str:
    kind = rng.random()
    values = list(VALUE.finditer(text))
    if kind < 0.5 and values:
        at = rng.choice(values)
        return text[: at.start()] + rng.choice(WORDS) + text[at.end() :]
    if kind < 0.75:
        lines = text.splitlines(keepends=True)
        del lines[rng.randrange(len(lines)) :][:1]
        return "".join(lines)
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(WORDS) + text[at + rng.randint(0, 3) :]


@pytest.mark.parametrize("seed", range(12))
def test_a_mistake_is_an_error_with_a_line(seed):
    rng = random.Random(seed)
    read = 0
    for _ in range(30):
        text = TEXTS[seed]
        for _ in range(rng.randint(1, 3)):
            text = mutated(text, rng)
        try:
            config = parse_config(text, FOLDER / "c.yaml")
            assert plan_text(make_plan(config))
            if config.provider.type in ("aws", "gcp", "local"):
                assert ray_yaml(config, ray_version="2.60.0", token_file="token")
            read += 1
        except ConfigError as error:
            assert re.match(r".*c\.yaml:\d+: .", str(error)), text
    assert read < 30
