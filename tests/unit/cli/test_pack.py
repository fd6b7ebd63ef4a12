from __future__ import annotations

from pathlib import Path

import overtone as product
from overtone import tune


def run(results: Path, name: str, saves: bool = True) -> None:
    def train(config):
        if saves:
            with tune.checkpoint_dir(step=1) as folder:
                Path(folder, "weights").write_text("w")
        tune.report(loss=config["x"])

    tune.run(
        train, config={"x": tune.grid_search([2, 1])}, metric="loss", mode="min", name=name, verbose=0,
        engine="inline", files=False, storage_path=results,
    )  # fmt: skip


def test_a_pack_is_written_and_described(overtone, results, tmp_path):
    run(results, "exp")
    done = overtone("pack", "exp", "--to", tmp_path / "a", "--json")
    assert (done.code, done.data["value"], done.data["trial_index"]) == (0, 1, 1)
    assert done.data["sha256"] == product.load_pack(tmp_path / "a").sha256
    done = overtone("pack", "exp", "--to", tmp_path / "b", "--trial", 0, "--metric", "loss", "--mode", "max")
    assert f"sha256    {product.load_pack(tmp_path / 'b').sha256}" in done.out
    assert product.load_pack(tmp_path / "b").config == {"x": 2}


def test_errors_are_one_line(overtone, results, tmp_path):
    run(results, "exp")
    run(results, "unsaved", saves=False)
    overtone("pack", "exp", "--to", tmp_path / "a")
    done = overtone("pack", "exp", "--to", tmp_path / "a")
    assert (done.code, done.err) == (
        1,
        f"overtone: {tmp_path / 'a'} exists already: name a new folder for the pack\n",
    )
    done = overtone("pack", "unsaved", "--to", tmp_path / "b")
    assert (done.code, "has no checkpoint to pack" in done.err) == (1, True)
    assert overtone("pack", "exp").code == 2
    assert not (tmp_path / "b").exists()
