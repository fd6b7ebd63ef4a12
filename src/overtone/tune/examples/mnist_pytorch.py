"""The small convolutional network of the articles, its training step and its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from overtone.errors import MissingPackageError
from overtone.tune.examples.digit_images import digits

try:
    import torch
    import torch.nn.functional as F
    from torch import nn, optim
    from torch.utils.data import DataLoader, TensorDataset
except ImportError as error:
    raise MissingPackageError("PyTorch", "torch", "overtone.tune.examples.mnist_pytorch") from error

EPOCH_SIZE = 512
"""Number of images per call of `train`."""

TEST_SIZE = 256
"""Number of images per call of `test`."""

_MEAN, _DEVIATION = 0.1307, 0.3081  # of MNIST's pixels


class ConvNet(nn.Module):
    """A network of one convolution and one linear layer; returns log-probabilities of ten digits."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, kernel_size=3)
        self.fc = nn.Linear(192, 10)

    def forward(self, x: Any) -> Any:
        x = F.relu(F.max_pool2d(self.conv1(x), 3))
        return F.log_softmax(self.fc(x.flatten(1)), dim=1)


def train(model: Any, optimizer: Any, train_loader: Any, device: Any = None) -> None:
    """Train for one epoch of `EPOCH_SIZE` images."""
    device = device or torch.device("cpu")
    model.train()
    seen = 0
    for data, target in train_loader:
        if seen >= EPOCH_SIZE:
            return
        seen += len(data)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data.to(device)), target.to(device))
        torch.autograd.backward(loss)
        optimizer.step()


def test(model: Any, data_loader: Any, device: Any = None) -> float:  # noqa: PT028 - not a test of pytest's
    """Return the accuracy over `TEST_SIZE` images, from 0 to 1."""
    device = device or torch.device("cpu")
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for data, target in data_loader:
            if total >= TEST_SIZE:
                break
            predicted = model(data.to(device)).argmax(dim=1)
            correct += int((predicted == target.to(device)).sum())
            total += len(target)
    return correct / total


test.__test__ = False  # type: ignore[attr-defined]  # pytest must not collect it


def get_data_loaders(batch_size: int = 64, data_dir: str | Path | None = None) -> tuple[Any, Any]:
    """Return loaders of the training images and of the test images.

    Args:
        batch_size: Images per batch.
        data_dir: The folder with MNIST's four idx files; see `digit_images.digits`.
    """
    return _loader(True, batch_size, data_dir), _loader(False, batch_size, data_dir)


def train_mnist(config: dict[str, Any]) -> None:
    """Train until stopped, and report `mean_accuracy` after each epoch."""
    from overtone import tune

    use_cuda = config.get("use_gpu") and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    train_loader, test_loader = get_data_loaders()
    model = ConvNet().to(device)
    optimizer = optim.SGD(model.parameters(), lr=config.get("lr", 0.01), momentum=config.get("momentum", 0.9))
    while True:
        train(model, optimizer, train_loader, device)
        tune.report(mean_accuracy=test(model, test_loader, device))


def _loader(is_train: bool, batch_size: int, data_dir: str | Path | None) -> Any:
    images, labels = digits(is_train, data_dir)
    pixels = torch.from_numpy(images.astype("float32")).unsqueeze(1)
    data = TensorDataset((pixels / 255 - _MEAN) / _DEVIATION, torch.from_numpy(labels))
    return DataLoader(data, batch_size=batch_size, shuffle=True)
