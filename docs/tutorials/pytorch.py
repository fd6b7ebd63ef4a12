"""
PyTorch
=======

From a search space to a tested model: a small network learns handwritten digits. The search stops bad trials early and saves
checkpoints, and the best model is tested with images that the search did not use.
"""

# %%
# The data
# --------
# The data are 1,797 images of 8 x 8 pixels. The network learns from 1,000 of them. The next 400 compare the configurations.
# The last 397 are for the test at the end.

from pathlib import Path

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits
from torch.nn.functional import cross_entropy

from overtone import tune
from overtone.tune.schedulers import ASHAScheduler


def load_data():
    pixels, digits = load_digits(return_X_y=True)
    order = torch.randperm(len(digits), generator=torch.Generator().manual_seed(0))
    x = torch.tensor(pixels, dtype=torch.float32)[order] / 16
    y = torch.tensor(digits)[order]
    return [(x[rows], y[rows]) for rows in (slice(1000), slice(1000, 1400), slice(1400, None))]


# %%
# The network
# -----------
# The configuration sets the number of hidden units and the dropout.


def make_network(config):
    return torch.nn.Sequential(
        torch.nn.Linear(64, config["units"]),
        torch.nn.ReLU(),
        torch.nn.Dropout(config["dropout"]),
        torch.nn.Linear(config["units"], 10),
    )


# %%
# The trainable
# -------------
# The loop is that of any PyTorch program. Three lines are for the search: ``get_checkpoint`` restores the state of a trial
# that was interrupted, ``get_trial_seed`` gives the trial its own seed, and ``report`` sends metrics and a checkpoint after
# each epoch. A checkpoint has all that the training needs to continue: the epoch, the network and the optimizer.


def train(config):
    torch.manual_seed(tune.get_trial_seed())
    (x, y), (x_valid, y_valid), _ = load_data()
    network = make_network(config)
    optimizer = torch.optim.SGD(network.parameters(), lr=config["lr"], momentum=0.9)
    first = 1
    if checkpoint := tune.get_checkpoint():
        state = torch.load(checkpoint.value)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"] + 1

    for epoch in range(first, 10):
        network.train()
        for rows in torch.randperm(len(x)).split(50):
            optimizer.zero_grad()
            cross_entropy(network(x[rows]), y[rows]).backward()
            optimizer.step()
        network.eval()
        with torch.no_grad():
            output = network(x_valid)
        metrics = {
            "loss": cross_entropy(output, y_valid).item(),
            "accuracy": (output.argmax(1) == y_valid).float().mean().item(),
        }
        state = {"epoch": epoch, "network": network.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, "state.pt")
        tune.report(metrics, checkpoint="state.pt")


# %%
# The search
# ----------
# A logarithmic domain suits learning rates and sizes. ASHA compares the trials after 1 and 3 epochs, and stops those whose loss
# is not among the best third. A whole training has 9 epochs. Of each trial, the newest checkpoint is kept.

space = {
    "lr": tune.loguniform(1e-4, 1.0),
    "units": tune.lograndint(8, 257),
    "dropout": tune.uniform(0.0, 0.5),
}
analysis = tune.run(
    train,
    config=space,
    num_samples=12,
    metric="loss",
    mode="min",
    scheduler=ASHAScheduler(max_t=9, grace_period=1, reduction_factor=3),
    keep_checkpoints_num=1,
    name="digits",
    seed=1,
    verbose=0,
)
for trial in analysis.trials:
    values = "  ".join(f"{name} {value:.4g}" for name, value in trial.config.items())
    print(
        f"{trial.last_result['training_iteration']:2d} epochs, loss {trial.last_result['loss']:.3f}:  {values}"
    )

# %%
# Each line in the plot is a trial. Most of them end after the first comparisons.

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for trial in analysis.trials:
    losses = [result["loss"] for result in trial.results()]
    axes.plot(range(1, len(losses) + 1), losses, marker=".", color="#3366aa", alpha=0.7)
axes.set(xlabel="epoch", ylabel="loss on the validation data", xticks=range(1, 10))
plt.show()

# %%
# The model
# ---------
# The best trial's checkpoint has the trained network. Its accuracy on the test images is the number to report: the validation
# images have chosen the configuration, so that the accuracy on them is a little too good.

network = make_network(analysis.best_config)
network.load_state_dict(torch.load(analysis.best_checkpoint.value)["network"])
network.eval()
x_test, y_test = load_data()[2]
with torch.no_grad():
    accuracy = (network(x_test).argmax(1) == y_test).float().mean().item()
print(f"accuracy on the validation images: {analysis.best_result['accuracy']:.3f}")
print(f"accuracy on the test images:       {accuracy:.3f}")

# %%
# Save the network where your application expects it. ``overtone pack digits --to FOLDER`` makes a folder with the checkpoint,
# the configuration, the metrics and a sha256 of each file.

torch.save(network.state_dict(), "digits.pt")
print(Path("digits.pt").stat().st_size, "bytes")
