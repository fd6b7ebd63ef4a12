"""A network with one hidden layer, trained by stochastic gradient descent with momentum, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]

N_CLASSES = 10


class Network:
    """A classifier of images; softmax over `N_CLASSES`.

    Args:
        n_inputs: Pixels of an image.
        hidden: Number of hidden units.
        activation: "relu" or "tanh".
        seed: The seed of the first weights, and of the order of the images.
    """

    def __init__(self, n_inputs: int, hidden: int, activation: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.activation = activation
        self.weights: Weights = {
            "w1": _normal(rng, n_inputs, hidden),
            "b1": np.zeros(hidden, np.float32),
            "w2": _normal(rng, hidden, N_CLASSES),
            "b2": np.zeros(N_CLASSES, np.float32),
        }
        self.speeds = {name: np.zeros_like(values) for name, values in self.weights.items()}

    def train(
        self,
        images: NDArray[np.float32],
        digits: NDArray[np.int64],
        config: dict[str, Any],
        rng: np.random.Generator,
    ) -> float:
        """Pass once over the images, in random order.

        Args:
            config: "lr", "momentum", "batch_size" and "weight_decay".

        Returns:
            The mean loss (cross entropy in nats) of the pass.
        """
        order, losses, size = rng.permutation(len(images)), [], config["batch_size"]
        lr, momentum = np.float32(config["lr"]), np.float32(config["momentum"])
        for start in range(0, len(order) - size + 1, size):
            rows = order[start : start + size]
            loss, slopes = self._slopes(images[rows], digits[rows], config["weight_decay"])
            losses.append(loss)
            for name, speed in self.speeds.items():
                speed *= momentum
                speed -= lr * slopes[name]
                self.weights[name] += speed
        return float(np.mean(losses))

    def accuracy(self, images: NDArray[np.float32], digits: NDArray[np.int64]) -> float:
        """Return the share of images that are classified correctly."""
        _, scores = self._forward(images)
        return float((scores.argmax(1) == digits).mean())

    def state(self) -> dict[str, Weights]:
        """Return a copy of all that training changes."""
        return {
            "weights": {name: values.copy() for name, values in self.weights.items()},
            "speeds": {name: values.copy() for name, values in self.speeds.items()},
        }

    def restore(self, state: dict[str, Weights]) -> None:
        """Take over a `state()`."""
        self.weights = {name: values.copy() for name, values in state["weights"].items()}
        self.speeds = {name: values.copy() for name, values in state["speeds"].items()}

    def _forward(self, images: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        sums = images @ self.weights["w1"] + self.weights["b1"]
        hidden = np.maximum(sums, 0) if self.activation == "relu" else np.tanh(sums)
        return hidden, hidden @ self.weights["w2"] + self.weights["b2"]

    def _slopes(
        self, images: NDArray[np.float32], digits: NDArray[np.int64], decay: float
    ) -> tuple[float, Weights]:
        """Return the mean loss of a batch, and its gradient."""
        hidden, scores = self._forward(images)
        scores -= scores.max(1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(1, keepdims=True)
        rows = np.arange(len(digits))
        loss = float(-np.log(np.maximum(shares[rows, digits], 1e-12)).mean())
        shares[rows, digits] -= 1
        shares /= len(digits)
        back = shares @ self.weights["w2"].T
        back *= hidden > 0 if self.activation == "relu" else 1 - hidden**2
        keep = np.float32(decay)
        return loss, {
            "w1": images.T @ back + keep * self.weights["w1"],
            "b1": back.sum(0),
            "w2": hidden.T @ shares + keep * self.weights["w2"],
            "b2": shares.sum(0),
        }


def _normal(rng: np.random.Generator, n_inputs: int, n_outputs: int) -> NDArray[np.float32]:
    values: NDArray[np.float32] = rng.standard_normal((n_inputs, n_outputs), np.float32)
    values /= np.float32(np.sqrt(n_inputs))
    return values
