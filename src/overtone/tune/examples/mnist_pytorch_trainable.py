"""The network of `mnist_pytorch` as a class trainable."""

from __future__ import annotations

import os
from typing import Any

from overtone.tune.examples.mnist_pytorch import ConvNet, get_data_loaders, test, train
from overtone.worker.trainables.trainable import Trainable

_FILE = "model.pth"


class TrainMNIST(Trainable):
    """Trains one epoch a step, and reports `mean_accuracy`.

    Config: "lr" (0.01 by default), "momentum" (0.9), "use_gpu" (False).
    """

    def setup(self, config: dict[str, Any]) -> None:
        import torch

        use_cuda = config.get("use_gpu") and torch.cuda.is_available()
        self.device = torch.device("cuda" if use_cuda else "cpu")
        self.train_loader, self.test_loader = get_data_loaders()
        self.model = ConvNet().to(self.device)
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), lr=config.get("lr", 0.01), momentum=config.get("momentum", 0.9)
        )

    def step(self) -> dict[str, Any]:
        train(self.model, self.optimizer, self.train_loader, self.device)
        return {"mean_accuracy": test(self.model, self.test_loader, self.device)}

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        import torch

        torch.save(self.model.state_dict(), os.path.join(checkpoint_dir, _FILE))

    def load_checkpoint(self, checkpoint_dir: str) -> None:
        import torch

        path = os.path.join(checkpoint_dir, _FILE)
        self.model.load_state_dict(torch.load(path, weights_only=True))
