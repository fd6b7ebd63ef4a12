"""Search for the learning rate and the momentum of a small ConvNet on MNIST, in two forms.

    python examples/mnist_torch.py --data DIR                  a trial is a function
    python examples/mnist_torch.py --data DIR --form class     a trial is a class
    python examples/mnist_torch.py --data DIR --smoke          a small run, to see that it works

DIR holds MNIST's four idx files, gzipped or not. Trials learn from 55,000 of the training
images and are compared by their accuracy on the other 5,000; the model that won is tested
once on the test images.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from typing import Any

from overtone import tune  # first: then Ctrl-C while the rest is imported ends without a traceback

# isort: split
import torch
import torch.nn.functional as F
from torch import Tensor, optim

from overtone.errors import StorageError
from overtone.tune.examples.digit_images import digits
from overtone.tune.examples.mnist_pytorch import ConvNet
from overtone.tune.schedulers import ASHAScheduler

BATCH = 64
VALIDATION = 5_000
MEAN, DEVIATION = 0.1307, 0.3081  # of the pixels of MNIST, scaled to 0..1


class Training:
    """A ConvNet in training: what both forms share."""

    def __init__(self, config: dict[str, Any], data: str, epoch_size: int) -> None:
        images, labels = map(torch.tensor, digits(True, data))
        self.device = torch.device("cuda" if config["use_gpu"] and torch.cuda.is_available() else "cpu")
        self.train = images[:-VALIDATION].to(self.device), labels[:-VALIDATION].to(self.device)
        self.validation = images[-VALIDATION:].to(self.device), labels[-VALIDATION:].to(self.device)
        self.epoch_size = epoch_size
        torch.manual_seed(0)
        self.model = ConvNet().to(self.device)
        self.optimizer = optim.SGD(self.model.parameters(), lr=config["lr"], momentum=config["momentum"])

    def epoch(self) -> float:
        """Learn from `epoch_size` images drawn at random; the validation accuracy after that."""
        images, labels = self.train
        self.model.train()
        for batch in torch.randperm(len(images))[: self.epoch_size].split(BATCH):
            self.optimizer.zero_grad()
            F.nll_loss(self.model(pixels(images[batch])), labels[batch]).backward()
            self.optimizer.step()
        return accuracy(self.model, *self.validation)

    def save(self, folder: str) -> str:
        path = os.path.join(folder, "checkpoint.bin")
        torch.save((self.model.state_dict(), self.optimizer.state_dict()), path)
        return path

    def load(self, path: str) -> None:
        model, optimizer = torch.load(path, map_location=self.device)
        self.model.load_state_dict(model)
        self.optimizer.load_state_dict(optimizer)


def train_mnist(config: dict[str, Any], data: str, epochs: int, epoch_size: int) -> None:
    """The function form: its own loop, and a report after each epoch."""
    training = Training(config, data, epoch_size)
    checkpoint = tune.get_checkpoint()
    if checkpoint:  # the trial goes on from there
        with checkpoint.as_directory() as folder:
            training.load(os.path.join(folder, "checkpoint.bin"))
    for _ in range(epochs):
        result = {"mean_accuracy": training.epoch()}
        with tempfile.TemporaryDirectory() as folder:
            training.save(folder)
            tune.report(result, checkpoint=tune.Checkpoint.from_directory(folder))


class TrainMNIST(tune.Trainable):
    """The class form: one step is one epoch, and Overtone asks for checkpoints."""

    def setup(self, config: dict[str, Any], data: str, epochs: int, epoch_size: int) -> None:
        self.training = Training(config, data, epoch_size)

    def step(self) -> dict[str, float]:
        return {"mean_accuracy": self.training.epoch()}

    def save_checkpoint(self, checkpoint_dir: str) -> str:
        return self.training.save(checkpoint_dir)

    def load_checkpoint(self, checkpoint_path: str) -> None:
        self.training.load(checkpoint_path)


def accuracy(model: ConvNet, images: Tensor, labels: Tensor) -> float:
    """The share of `images`, bytes (n, 28, 28), that `model` reads rightly."""
    model.eval()
    with torch.no_grad():
        guesses = torch.cat([model(pixels(part)).argmax(dim=1) for part in images.split(1000)])
    return float((guesses == labels).float().mean())


def pixels(images: Tensor) -> Tensor:
    """Bytes (n, 28, 28) as the network takes them: floats (n, 1, 28, 28) around 0."""
    return (images.unsqueeze(1).float() / 255 - MEAN) / DEVIATION


def plot(analysis: Any, path: str) -> None:
    """Draw each trial's accuracy over its epochs into a PNG file."""
    from matplotlib.figure import Figure  # draws into files without a display

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for frame in analysis.trial_dataframes.values():
        axes.plot(frame["training_iteration"], frame["mean_accuracy"], marker=".")
    axes.set(xlabel="epoch", ylabel="validation accuracy")
    axes.xaxis.get_major_locator().set_params(integer=True)
    figure.savefig(path, dpi=120)


def main() -> None:
    options = argparse.ArgumentParser(description="A search over a ConvNet on MNIST.")
    options.add_argument("--data", help="the folder of MNIST's four idx files, gzipped or not")
    options.add_argument("--form", choices=["function", "class"], default="function", help="of the trainable")
    options.add_argument("--trials", type=int, default=16, help="how many configurations (%(default)s)")
    options.add_argument("--use-gpu", action="store_true", help="one GPU a trial, where there is one")
    options.add_argument("--smoke", action="store_true", help="four short trials")
    options.add_argument("--storage", help="where results go (~/overtone_results)")
    options.add_argument("--plot", default="mnist.png", help="the PNG that is drawn at the end (%(default)s)")
    given = options.parse_args()
    if not given.data:
        options.error(
            "--data DIR is needed: a folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, "
            "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, each as it is or with .gz"
        )
    try:
        x_test, y_test = map(torch.tensor, digits(False, given.data))
    except StorageError as error:
        options.error(str(error))
    gpus = 1 if given.use_gpu and torch.cuda.is_available() else 0
    if given.use_gpu and not gpus:
        print("PyTorch finds no GPU here: training on CPUs.")

    trials, epochs, epoch_size = (4, 3, 2_000) if given.smoke else (given.trials, 10, 20_000)
    analysis = tune.run(
        tune.with_parameters(
            train_mnist if given.form == "function" else TrainMNIST,
            data=os.path.abspath(given.data),
            epochs=epochs,
            epoch_size=epoch_size,
        ),
        config={"lr": tune.loguniform(1e-3, 0.3), "momentum": tune.uniform(0.1, 0.9), "use_gpu": bool(gpus)},
        num_samples=trials,
        metric="mean_accuracy",
        mode="max",
        scheduler=ASHAScheduler(max_t=epochs, grace_period=1, reduction_factor=3),
        stop={"training_iteration": epochs},
        resources_per_trial={"cpu": 1, "gpu": gpus},
        checkpoint_freq=1 if given.form == "class" else 0,
        keep_checkpoints_num=1,
        storage_path=given.storage,
        seed=1,
    )

    if not all(trial.is_finished() for trial in analysis.trials):
        return  # interrupted: the last line says how to resume
    best = analysis.best_trial
    with analysis.get_last_checkpoint(best).as_directory() as folder:
        state, _ = torch.load(os.path.join(folder, "checkpoint.bin"), map_location="cpu")
    model = ConvNet()
    model.load_state_dict(state)
    print(f"\nBest configuration: {best.config}")
    print(f"Test accuracy: {accuracy(model, x_test, y_test):.4f}")
    plot(analysis, given.plot)
    print(f"Plot: {given.plot}\nResults: {analysis.experiment_path}")


if __name__ == "__main__":
    main()
