"""Training with Accelerate in one process."""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset


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
        print(epoch, loss, accelerator.num_processes)


if __name__ == "__main__":
    train({"lr": 0.1, "epochs": 3})
