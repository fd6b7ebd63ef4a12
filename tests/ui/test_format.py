"""The page writes numbers and durations as terminals do."""

from __future__ import annotations

import json
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from overtone.analysis.drawing.labels import printable
from overtone.observers.display.plain_text import duration, number

JS = Path(__file__).parent / "js"


def _floats() -> list[float]:
    pick = random.Random(0)
    found = [struct.unpack("<d", pick.randbytes(8))[0] for _ in range(3000)]
    found += [round(pick.uniform(-1, 1) * 10 ** pick.randint(-8, 8), pick.randint(0, 9)) for _ in range(3000)]
    found += [
        0.0,
        -0.0,
        1.0,
        100000.0,
        1e6,
        999999.5,
        9999995.0,
        1e-4,
        9.99999e-5,
        0.00012345650,
        float("inf"),
    ]
    found += [float("-inf"), float("nan"), 5e-324, 1.7976931348623157e308, 2.5, 1e21, 123456.5, 0.1 + 0.2]
    return found


def _durations() -> list[float]:
    pick = random.Random(1)
    found = [pick.uniform(0, 10 ** pick.randint(0, 7)) for _ in range(2000)]
    found += (
        [i / 20 for i in range(240)] + [i / 2 for i in range(20, 260)] + [59.5, 3599.5, 3600, 86399.6, -1.0]
    )
    return found


TEXTS = [
    "plain", "", "\u202eevil\u202c", "a\x1b[31mred", "\x00\x07\x7f\x9f", "\u200b\u2066x\u2069\ufeff", "a\u00a0b\u2028c\u2029",
    "\ue000\U000f0000", "\u8bd5\u9a8c", "\U0001f600 ok", "caf\u00e9 e\u0301", "\u061c\u200e\u200f", "\r", "a  b", "\u3000",
]  # fmt: skip


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_page_writes_numbers_and_durations_as_the_terminal_does() -> None:
    integers = [0, 7, -3, 10**6, 123456789, 2**53, -(2**53)]
    asked = [("float", repr(x)) for x in _floats()]
    asked += [("int", str(x)) for x in integers] + [("duration", repr(x)) for x in _durations()]
    wanted = [number(x) for x in _floats()] + [number(x) for x in integers]
    wanted += [duration(x) for x in _durations()]
    asked += [("text", text) for text in TEXTS]
    wanted += [printable(text) for text in TEXTS]
    command = ["node", "--import", str(JS / "register.mjs"), str(JS / "format_lines.mjs")]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=300
    )
    shown = json.loads(done.stdout)
    wrong = [(ask, want, show) for ask, want, show in zip(asked, wanted, shown, strict=True) if want != show]
    assert not wrong[:20]
