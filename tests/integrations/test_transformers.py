"""Transformers: the searches of the page, by a function and by the Trainer itself."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from training_runs import MOST_LINES, ROOT, added_lines, check_page, run_page

pytest.importorskip("transformers")


def test_the_page_shows_what_the_example_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"eval_loss": "eval_loss"}
    check_page("transformers_digits", "transformers", names, tmp_path, monkeypatch, capsys)


def test_few_lines_are_added() -> None:
    assert 0 < len(added_lines("transformers_digits")) <= MOST_LINES


def test_the_best_run_of_the_trainers_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    variables = run_page("transformers_search", "transformers", capsys)
    best, trainer = variables["best"], variables["trainer"]
    objectives = {trial.trial_id: trial.last_result["objective"] for trial in best.run_summary.trials}
    assert objectives[best.run_id] == best.objective == min(objectives.values())
    assert best.hyperparameters == best.run_summary.best_config
    assert trainer.model is not None
    assert trainer.hp_search_backend is None


def test_several_objectives_have_a_list_of_best_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import Trainer, TrainingArguments

    from overtone import tune
    from overtone.errors import ArgumentError
    from overtone.tune.integration.transformers_search import OVERTONE

    monkeypatch.chdir(tmp_path)
    example: Any = runpy.run_path(str(ROOT / "examples/frameworks/transformers_search.py"))
    data = example["digits"]()[:50]
    arguments = TrainingArguments("output", eval_strategy="epoch", **example["QUIET"])
    trainer = Trainer(args=arguments, train_dataset=data, eval_dataset=data, model_init=example["model_init"])
    with pytest.raises(ArgumentError, match="direction='down'"):
        trainer.hyperparameter_search(backend=OVERTONE, direction="down")
    runs = trainer.hyperparameter_search(
        lambda trial: {"num_train_epochs": tune.grid_search([1, 2])},
        backend=OVERTONE,
        n_trials=1,
        compute_objective=lambda metrics: [metrics["eval_loss"], metrics["epoch"]],
        direction=["minimize", "maximize"],
        hp_name=lambda config: f"epochs-{config['num_train_epochs']}",
        storage_path=str(tmp_path),
        verbose=0,
    )
    assert max(run.objective[1] for run in runs) == 2.0


def test_a_schedule_continues_with_another_learning_rate() -> None:
    import torch

    from overtone.tune.integration.transformers_search import rescale

    def stepped(learning_rate: float, steps: int) -> tuple[torch.optim.Optimizer, Any]:
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=learning_rate)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / 10)
        for _ in range(steps):
            optimizer.step()
            schedule.step()
        return optimizer, schedule

    optimizer, schedule = stepped(0.01, 3)
    rescale(optimizer, schedule, 0.02)
    for steps in (3, 4):
        assert optimizer.param_groups[0]["lr"] == pytest.approx(stepped(0.02, steps)[0].param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
