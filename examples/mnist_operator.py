"""Search for the learning rate and the momentum of a ConvNet that each trial trains on several workers.

    python examples/mnist_operator.py                     generated digits, 2 workers a trial
    python examples/mnist_operator.py --data DIR          MNIST: DIR holds its four idx files, gzipped or not
    python examples/mnist_operator.py --workers 1 2       the number of workers is searched, too
    python examples/mnist_operator.py --fp16              mixed precision
    python examples/mnist_operator.py --smoke             a small run, to see that it works

The training is an operator: it says what is trained on which data. Loops, workers, each worker's part of the
data and checkpoints are Overtone's.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import torch
from torch.utils.data import DataLoader, TensorDataset

import overtone
from overtone import tune
from overtone.tune import CLIReporter
from overtone.tune.examples.digit_images import digits
from overtone.tune.examples.mnist_pytorch import ConvNet
from overtone.tune.schedulers import ASHAScheduler
from overtone.util.sgd.torch import TorchTrainer, TrainingOperator
from overtone.util.sgd.utils import BATCH_SIZE

MEAN, DEVIATION = 0.1307, 0.3081  # of the pixels of MNIST, scaled to 0..1


class DigitOperator(TrainingOperator):
    """A ConvNet that learns to read digits."""

    def setup(self, config: dict[str, Any]) -> None:
        torch.manual_seed(0)
        model = ConvNet()
        optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=config["momentum"])
        self.model, self.optimizer, self.criterion = self.register(
            models=model, optimizers=optimizer, criterion=torch.nn.NLLLoss()
        )
        self.register_data(
            train_loader=DataLoader(images(True, config), config[BATCH_SIZE], shuffle=True),
            validation_loader=DataLoader(images(False, config), 500),
        )


def images(is_training: bool, config: dict[str, Any]) -> TensorDataset:
    """Images of digits, floats (n, 1, 28, 28) around 0, and their labels."""
    pixels, labels = digits(is_training, config["data"])
    n = config["size"]
    inputs = torch.tensor(pixels[:n]).unsqueeze(1).float() / 255
    return TensorDataset((inputs - MEAN) / DEVIATION, torch.tensor(labels[:n]))


def main() -> None:
    options = argparse.ArgumentParser(description="A search over trainings on several workers.")
    options.add_argument("--data", help="folder of MNIST's four idx files (default: generated digits)")
    options.add_argument("--workers", type=int, nargs="+", default=[2], help="workers per trial (default: 2)")
    options.add_argument("--fp16", action="store_true", help="mixed precision")
    options.add_argument("--trials", type=int, default=8, help="how many configurations (%(default)s)")
    options.add_argument("--cpus", type=int, help="CPUs for all trials (default: those of this machine)")
    options.add_argument("--smoke", action="store_true", help="two short trials")
    options.add_argument("--storage", help="where results go (~/overtone_results)")
    given = options.parse_args()
    trials, epochs, size = (2, 2, 500) if given.smoke else (given.trials, 10, 60_000)

    # a trial takes 1 CPU for its head and 1 for each worker; the heads wait most of the time
    needed = max(given.workers) + 1
    overtone.init(num_cpus=max(given.cpus or os.cpu_count() or 1, needed))
    trainable = TorchTrainer.as_trainable(
        training_operator_cls=DigitOperator,
        use_fp16=given.fp16,
        config={BATCH_SIZE: 64, "data": given.data and os.path.abspath(given.data), "size": size},
    )
    analysis = tune.run(
        trainable,
        config={
            "lr": tune.loguniform(1e-3, 0.3),
            "momentum": tune.uniform(0.1, 0.9),
            "num_workers": tune.choice(given.workers),
        },
        num_samples=trials,
        metric="val_accuracy",
        mode="max",
        scheduler=ASHAScheduler(max_t=epochs, grace_period=1, reduction_factor=3),
        stop={"training_iteration": epochs},
        progress_reporter=CLIReporter(),
        checkpoint_freq=1,
        keep_checkpoints_num=1,
        storage_path=given.storage,
        seed=1,
    )
    if not all(trial.is_finished() for trial in analysis.trials):
        return  # interrupted: the last line says how to resume

    print(f"\nBest configuration: {analysis.best_config}")
    trainer = TorchTrainer(
        training_operator_cls=DigitOperator,
        use_local=True,
        config={BATCH_SIZE: 64, "data": given.data, "size": size, **analysis.best_config},
    )
    with analysis.get_last_checkpoint(analysis.best_trial).as_directory() as folder:
        trainer.load(os.path.join(folder, "trainer.checkpoint"))
    print(f"Accuracy of its last checkpoint: {trainer.validate()['val_accuracy']:.4f}")


if __name__ == "__main__":
    main()
