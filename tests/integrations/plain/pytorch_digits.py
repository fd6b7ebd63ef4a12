"""A PyTorch loop for handwritten digits."""

import torch
from sklearn.datasets import load_digits
from torch.nn.functional import cross_entropy


def train(config):
    torch.manual_seed(0)
    x, y = (torch.tensor(part) for part in load_digits(return_X_y=True))
    x = x.float() / 16
    units = config["units"]
    model = torch.nn.Sequential(torch.nn.Linear(64, units), torch.nn.ReLU(), torch.nn.Linear(units, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    history = {"accuracy": []}
    for _ in range(8):
        for rows in torch.arange(1200).split(100):
            optimizer.zero_grad()
            cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
        accuracy = (model(x[1200:]).argmax(1) == y[1200:]).float().mean().item()
        history["accuracy"].append(accuracy)
    return history


if __name__ == "__main__":
    print(train({"units": 32, "lr": 0.01})["accuracy"][-1])
