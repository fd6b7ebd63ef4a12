"""A PyTorch loop for handwritten digits, and a search for its learning rate and its units."""

import torch
from sklearn.datasets import load_digits
from torch.nn.functional import cross_entropy

from overtone import tune


def train(config):
    torch.manual_seed(0)
    x, y = (torch.tensor(part) for part in load_digits(return_X_y=True))
    x = x.float() / 16
    units = config["units"]
    model = torch.nn.Sequential(torch.nn.Linear(64, units), torch.nn.ReLU(), torch.nn.Linear(units, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    start, checkpoint = 0, tune.get_checkpoint()
    if checkpoint:
        start, model_state, optimizer_state = torch.load(checkpoint.value)
        model.load_state_dict(model_state)
        optimizer.load_state_dict(optimizer_state)
    for epoch in range(start, 8):
        for rows in torch.arange(1200).split(100):
            optimizer.zero_grad()
            cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
        accuracy = (model(x[1200:]).argmax(1) == y[1200:]).float().mean().item()
        torch.save((epoch + 1, model.state_dict(), optimizer.state_dict()), "state.pt")
        tune.report({"accuracy": accuracy}, checkpoint="state.pt")


if __name__ == "__main__":
    space = {"units": tune.choice([16, 32, 64]), "lr": tune.loguniform(1e-4, 1e-1)}
    analysis = tune.run(
        train, config=space, num_samples=8, metric="accuracy", mode="max", scheduler="asha", seed=0
    )
    print(f"{analysis.best_result['accuracy']:.3f} with {analysis.best_config}")
