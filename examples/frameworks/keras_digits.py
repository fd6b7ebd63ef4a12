"""A Keras model for handwritten digits, and a search for its learning rate and its units."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
from sklearn.datasets import load_digits

from overtone import tune
from overtone.tune.integration.keras import TuneReportCheckpointCallback


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
    checkpoint = tune.get_checkpoint()
    if checkpoint:
        model = TuneReportCheckpointCallback.get_model(checkpoint)
    model.fit(
        x[:1200], y[:1200], validation_data=(x[1200:], y[1200:]), epochs=8, shuffle=False, verbose=0,
        initial_epoch=tune.get_context().iteration, callbacks=[TuneReportCheckpointCallback()],
    )  # fmt: skip


if __name__ == "__main__":
    space = {"units": tune.choice([16, 32, 64]), "lr": tune.loguniform(1e-4, 1e-1)}
    analysis = tune.run(
        train, config=space, num_samples=8, metric="val_accuracy", mode="max", scheduler="asha", seed=0
    )
    print(f"{analysis.best_result['val_accuracy']:.3f} with {analysis.best_config}")
