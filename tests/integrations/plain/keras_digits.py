"""A Keras model for handwritten digits."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
from sklearn.datasets import load_digits


def train(config):
    keras.utils.set_random_seed(0)
    x, y = load_digits(return_X_y=True)
    x /= 16
    model = keras.Sequential(
        [keras.Input((64,)), keras.layers.Dense(config["units"], "relu"), keras.layers.Dense(10)]
    )
    model.compile(
        keras.optimizers.Adam(config["lr"]),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(
        x[:1200], y[:1200], validation_data=(x[1200:], y[1200:]), epochs=8, shuffle=False, verbose=0
    )
    return history.history


if __name__ == "__main__":
    print(train({"units": 32, "lr": 0.01})["val_accuracy"][-1])
