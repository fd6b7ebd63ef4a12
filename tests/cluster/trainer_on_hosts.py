"""A trainer outside of trials, whose two ranks run on the hosts of the cluster; prints where, and the losses."""

from __future__ import annotations

import os

import ray
import torch

from overtone.util.sgd import TorchTrainer
from overtone.util.sgd.torch import TrainingOperator


class Line(TrainingOperator):
    def setup(self, config):
        torch.manual_seed(0)
        torch.set_num_threads(1)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        inputs = torch.randn(64, 4)
        data = torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True))
        self.model, self.optimizer, self.criterion = self.register(
            models=model, optimizers=optimizer, criterion=torch.nn.MSELoss()
        )
        self.register_data(train_loader=torch.utils.data.DataLoader(data, batch_size=16))


if __name__ == "__main__":
    ray.init(address="auto", log_to_driver=False)
    trainer = TorchTrainer(training_operator_cls=Line, num_workers=2, num_cpus_per_worker=2, use_gpu=False)
    losses = [trainer.train()["train_loss"] for _ in range(3)]
    hosts = trainer.apply_all_workers(lambda: os.uname().nodename)
    trainer.shutdown()
    print("trained on", *sorted(hosts), losses == sorted(losses, reverse=True))
