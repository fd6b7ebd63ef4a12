"""A pack behind Ray Serve answers over HTTP what the model answers offline; the listings of docs/serving.md run."""

from __future__ import annotations

import json
import re
import runpy
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slow_ray import patiently

pytest.importorskip("ray.serve", reason='pip install "ray[serve]"')
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "ray_serve.py"
PAGE = ROOT / "docs" / "serving.md"

pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a Ray Serve of its own, on the loopback."""
    import ray
    from ray import serve

    options = {"num_cpus": 2, "include_dashboard": False, "logging_level": "error", "log_to_driver": False}
    patiently(lambda: ray.init(address="local", **options))
    try:
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            port = chosen.getsockname()[1]
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        yield port
        serve.shutdown()
    finally:
        ray.shutdown()


def answer(port: int, images: list[list[float]]) -> list[int]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", json.dumps(images).encode())
    with urllib.request.urlopen(request, timeout=800) as response:
        return json.load(response)


def test_a_pack_is_served_as_it_predicts_offline(tmp_path, monkeypatch, capsys, port):
    from ray import serve
    from sklearn.datasets import load_digits

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    scope = {"__name__": "serving_page"}
    for listing in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[:2]:
        exec(listing, scope)
    assert re.search(r"^\{'alpha': .*\n0\.\d+$", capsys.readouterr().out, re.M)
    offline, images = scope["model"], load_digits().data[1200:1300].tolist()

    deployment = runpy.run_path(str(EXAMPLE), run_name="ray_serve")["Digits"]
    serve.run(deployment.bind(str(tmp_path / "model")))
    assert [answer(port, [image])[0] for image in images] == offline.predict(images).tolist()


def test_the_example_has_12_lines():
    code = EXAMPLE.read_text("utf-8").partition('"""\n')[2]
    assert len([line for line in code.splitlines() if line]) <= 12
    assert code.strip() in PAGE.read_text("utf-8")
