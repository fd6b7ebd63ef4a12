"""
Distributed training
====================

Each trial of this search trains one network in two processes, which PyTorch calls *ranks*. The ranks see different parts of
the data and average their gradients. On GPUs the script differs by one argument.
"""

# %%
# The loop of a rank
# ------------------
# Every rank runs this function. ``prepare_model`` wraps the network for distributed training, and ``prepare_data_loader`` gives
# each rank its half of the batches. All ranks call ``train.report``; ``reduce="mean"`` reports the mean of their metrics. Rank
# 0 saves a checkpoint: the networks of all ranks are equal.

from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from sklearn.datasets import load_digits
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from overtone import train, tune
from overtone.train import ScalingConfig
from overtone.train.torch import TorchTrainer, prepare_data_loader, prepare_model


def make_network():
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))


def train_loop(config):
    torch.manual_seed(0)
    pixels, digits = load_digits(return_X_y=True)
    x, y = torch.tensor(pixels, dtype=torch.float32) / 16, torch.tensor(digits)
    loader = prepare_data_loader(DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=50, shuffle=True))
    network = make_network()
    first = 1
    if checkpoint := train.get_checkpoint():
        with checkpoint.as_directory() as folder:
            state = torch.load(Path(folder) / "state.pt")
        network.load_state_dict(state["network"])
        first = state["epoch"] + 1
    network = prepare_model(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=config["lr"])

    for epoch in range(first, 6):
        loader.sampler.set_epoch(epoch)  # another order in each epoch
        images = 0
        for features, target in loader:
            optimizer.zero_grad()
            cross_entropy(network(features), target).backward()
            optimizer.step()
            images += len(target)
        with torch.no_grad():
            accuracy = (network(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
        metrics = {"accuracy": accuracy, "images": images}
        with TemporaryDirectory() as folder:
            saved = None
            if train.get_context().get_world_rank() == 0:
                state = {"epoch": epoch, "network": network.module.state_dict()}
                torch.save(state, Path(folder) / "state.pt")
                saved = train.Checkpoint.from_directory(folder)
            train.report(metrics, checkpoint=saved, reduce="mean")


# %%
# The search
# ----------
# Each of the two ranks gets half a CPU here, so that the script runs on any machine. With GPUs, write
# ``ScalingConfig(num_workers=2, use_gpu=True)``: each rank gets a GPU of its own. ``trainer.fit()`` would train once. A ``Tuner``
# makes trials of the trainer: each starts when the resources of all its ranks are free.

scaling = ScalingConfig(num_workers=2, resources_per_worker={"CPU": 0.5})
trainer = TorchTrainer(train_loop, scaling_config=scaling)
tuner = tune.Tuner(
    trainer,
    param_space={"train_loop_config": {"lr": tune.grid_search([0.01, 0.1, 1.0])}},
    tune_config=tune.TuneConfig(metric="accuracy", mode="max"),
    run_config=tune.RunConfig(name="ranks", verbose=0),
)
results = tuner.fit()
for result in results:
    lr, metrics = result.config["train_loop_config"]["lr"], result.metrics
    print(
        f"lr {lr:4g}: accuracy {metrics['accuracy']:.3f}, {metrics['images']:.0f} images for each rank in an epoch"
    )

# %%
# If a scheduler stops a trial, all of its ranks end at the same step. If a rank fails or is killed, the whole trial continues
# from its last checkpoint.
#
# The network of the best trial is an ordinary one again:

network = make_network()
with results.get_best_result().checkpoint.as_directory() as folder:
    network.load_state_dict(torch.load(Path(folder) / "state.pt")["network"])
print(sum(parameter.numel() for parameter in network.parameters()), "parameters")
