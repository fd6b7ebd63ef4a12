"""Training with Accelerate in two ranks."""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset

from overtone import train as ranks
from overtone.train import ScalingConfig
from overtone.train.torch import TorchTrainer


def train(config):
    set_seed(0)
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    x = torch.arange(32.0)[:, None] / 32
    loader = DataLoader(TensorDataset(x, 2 * x), batch_size=4, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(config["epochs"]):
        for features, target in loader:
            loss = ((model(features) - target) ** 2).mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        loss = accelerator.gather(loss.detach()).mean().item()
        ranks.report({"epoch": epoch, "loss": loss, "processes": accelerator.num_processes})


if __name__ == "__main__":
    two = ScalingConfig(num_workers=2)
    trainer = TorchTrainer(train, train_loop_config={"lr": 0.1, "epochs": 3}, scaling_config=two)
    print(trainer.fit().metrics)
