"""A script for torchrun: `torchrun --nproc-per-node=2 torchrun_plain.py --lr 0.1`."""

import argparse
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from overtone import tune


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--exit", type=int, default=0)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    x = torch.arange(16.0)[dist.get_rank() :: 2, None] / 16
    for epoch in range(args.epochs):
        loss = ((model(x) - 2 * x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tune.report({"epoch": epoch, "loss": loss.item(), "world": dist.get_world_size()})
    dist.destroy_process_group()
    sys.exit(args.exit)


if __name__ == "__main__":
    main()
