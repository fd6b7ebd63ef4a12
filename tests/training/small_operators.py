"""Operators that the tests train: small, quick and repeatable."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from overtone.util.sgd.torch import TrainingOperator


def points(n: int = 96, seed: int = 1) -> TensorDataset:
    """Points of four numbers, and whether their sum is positive."""
    x = torch.randn(n, 4, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(x, (x.sum(dim=1) > 0).long())


class Classifier(TrainingOperator):
    """A network without dropout and batch norm on 96 points: 32 a batch over all workers, not shuffled."""

    n = 96
    n_validation = 30
    shuffle = False

    def net(self) -> nn.Module:
        return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

    def schedule(self, optimizer):
        return None

    def setup(self, config):
        torch.set_num_threads(1)
        torch.manual_seed(0)
        model = self.net()
        optimizer = torch.optim.SGD(
            model.parameters(), lr=config.get("lr", 0.1), momentum=config.get("momentum", 0.9)
        )
        self.register(
            models=model,
            optimizers=optimizer,
            criterion=nn.CrossEntropyLoss(),
            schedulers=self.schedule(optimizer),
        )
        self.register_data(
            train_loader=DataLoader(points(self.n), 32 // self.world_size, shuffle=self.shuffle),
            validation_loader=DataLoader(points(self.n_validation, seed=2), 7),
        )


class Random(Classifier):
    """The same with all that is random: dropout, batch norm, a shuffled order and a scheduler."""

    shuffle = True

    def net(self) -> nn.Module:
        return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 2))

    def schedule(self, optimizer):
        return torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)


class GAN(TrainingOperator):
    """A generator of numbers around 3 against a discriminator, with an epoch of its own."""

    def setup(self, config):
        torch.set_num_threads(1)
        torch.manual_seed(0)
        models = [nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1))]
        optimizers = [torch.optim.Adam(model.parameters(), lr=config.get("lr", 0.02)) for model in models]
        self.models, self.optimizers, self.criterion = self.register(
            models=models, optimizers=optimizers, criterion=nn.BCEWithLogitsLoss()
        )
        real = 3 + torch.randn(64, 1, generator=torch.Generator().manual_seed(3)) / 2
        self.register_data(train_loader=DataLoader(TensorDataset(real), 16, num_workers=1))

    def train_epoch(self, iterator, info):
        generator, discriminator = self.models
        generator_optimizer, discriminator_optimizer = self.optimizers
        n = 0
        for (real,) in iterator:
            ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
            fake = generator(torch.randn(len(real), 1))
            judged = discriminator(torch.cat([real, fake.detach()]))
            loss = self.criterion(judged, torch.cat([ones, zeros]))
            discriminator_optimizer.zero_grad()
            self.backward(loss)
            self.step(discriminator_optimizer)
            generator_loss = self.criterion(discriminator(fake), ones)
            generator_optimizer.zero_grad()
            self.backward(generator_loss)
            self.step(generator_optimizer)
            n += len(real)
        return {"loss_d": loss.item(), "loss_g": generator_loss.item(), "num_samples": n}
