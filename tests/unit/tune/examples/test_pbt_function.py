"""A problem on which the best learning rate changes during training."""

from overtone import tune
from overtone.tune.examples.pbt_function import optimal_lr, pbt_function


def test_the_best_rate_rises_and_falls():
    assert [optimal_lr(accuracy) for accuracy in (0, 50, 100, 150, 200)] == [0.001, 0.005, 0.01, 0.005, 0.001]


def test_it_reports_and_goes_on_from_its_checkpoint(tmp_path):
    def run(**options):
        return tune.run(
            pbt_function, config={"lr": 0.005, "checkpoint_interval": 2}, seed=1, engine="inline", verbose=0,
            storage_path=tmp_path, name="pbt", tensorboard=False, **options,
        )  # fmt: skip

    first = run(stop={"training_iteration": 4})
    assert first.trials[0].last_result["cur_lr"] == 0.005
    assert first.trials[0].checkpoint.to_dict()["step"] == 4
    assert first.trials[0].last_result["q_err"] >= 1
