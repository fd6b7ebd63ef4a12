"""Answers as text in a page."""

from __future__ import annotations

import json
import shutil
import subprocess
import zlib
from base64 import b64decode

import numpy as np
import pytest

from overtone.ui import bundle
from overtone.ui.report.packing import packed_json, packed_message, rounded

binary_message = pytest.importorskip("overtone.ui.data.binary_message")


def message(**arrays):
    parts, listed = binary_message.MessageArrays(), []
    for key, values in arrays.items():
        listed.append({"key": key, **parts.add(values), "is_integer": key == "whole"})
    return parts.message({"n": 3, "arrays": listed})


ARRAYS = {
    "f8": np.array([1.5, np.nan, -np.inf, 1e-310]),
    "f4": np.array([1.5, 3.3, 1e-40], np.float32),
    "whole": np.array([16_777_217.0, 5.0]),
    "i2": np.array([-1, 300, -32768], np.int16),
    "i1": np.array([-1, 2], np.int8),
    "i4": np.array([2**31 - 1, -5], np.int32),
}


def test_the_page_reads_what_was_packed(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    (tmp_path / "parts.json").write_text(
        json.dumps([packed_message(message(**ARRAYS)), packed_json({"ä": [1, None]})])
    )
    main = f"""
import {{ unpackJson, unpackMessage }} from "{bundle.WEB}/js/data/packed.js";
import {{ readFileSync }} from "node:fs";
const [packed, data] = JSON.parse(readFileSync("{tmp_path}/parts.json", "utf-8"));
const {{ header, arrays }} = await unpackMessage(packed);
const text = (value) => Object.is(value, -0) ? "-0" : String(value);
console.log(JSON.stringify([header.n, [...arrays].map(([key, values]) => [key, [...values].map(text)]), await unpackJson(data)]));
"""
    (tmp_path / "main.mjs").write_text(main)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    loader = bundle.WEB.parents[3] / "tests" / "ui" / "js" / "register.mjs"
    done = subprocess.run(
        [node, "--import", str(loader), str(tmp_path / "main.mjs")],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    n, arrays, data = json.loads(done.stdout)
    assert (n, data) == (3, {"ä": [1, None]})
    for key, values in arrays:
        numbers = [float(one.replace("Infinity", "inf")) for one in values]
        np.testing.assert_array_equal(np.array(numbers, ARRAYS[key].dtype), ARRAYS[key])


def test_floats_are_rounded_to_bits():
    values = np.array([0.1, -3.3333, 1e30, 1e-40, 0.0, np.nan, np.inf, np.finfo(np.float32).max], np.float32)
    found = rounded(values, 10)
    finite = np.isfinite(values) & (np.abs(values) > 1e-37) & (values < 3e38)
    np.testing.assert_allclose(found[finite], values[finite], rtol=2**-11)
    assert np.isnan(found[5])
    assert found[6] == np.inf
    assert np.isfinite(found[7])
    np.testing.assert_array_equal(rounded(values, 23), values)
    assert abs(rounded(np.array([0.1]), 16)[0] - 0.1) < 0.1 * 2**-16


def test_rounding_makes_columns_small_and_leaves_integers_and_chosen_rows():
    values = np.random.default_rng(1).random(20_000)
    whole = np.arange(20_000.0) + 2**20
    sizes = [len(packed_message(message(x=values, whole=whole), bits, [7])) for bits in (None, 16, 9)]
    assert sizes[1] < 0.45 * sizes[0]
    assert sizes[2] < 0.7 * sizes[1]
    raw = zlib.decompress(b64decode(packed_message(message(x=values, whole=whole), 9, [7])))
    header, body = binary_message.decoded(raw)
    grouped = [
        np.frombuffer(body, np.uint8, 160_000, one["offset"]).reshape(8, -1) for one in header["arrays"]
    ]
    x, kept = (np.ascontiguousarray(one.T).view(np.float64).ravel() for one in grouped)
    np.testing.assert_array_equal(kept, whole)
    assert x[7] == values[7]
    assert 0 < np.abs(x - values).max() < 2**-9
