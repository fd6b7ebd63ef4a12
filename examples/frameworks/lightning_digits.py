"""A Lightning module for handwritten digits, and a search for its learning rate and its units."""

import lightning.pytorch as pl
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

from overtone import tune
from overtone.tune.integration.pytorch_lightning import TuneReportCheckpointCallback


class Digits(pl.LightningModule):
    def __init__(self, units, lr):
        super().__init__()
        self.lr = lr
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(64, units), torch.nn.ReLU(), torch.nn.Linear(units, 10)
        )

    def training_step(self, batch):
        loss = torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch):
        self.log("val_accuracy", (self.layers(batch[0]).argmax(1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


def train(config):
    pl.seed_everything(0, verbose=False)
    x, y = (torch.tensor(part) for part in load_digits(return_X_y=True))
    data = TensorDataset(x.float() / 16, y)
    training, validation = (DataLoader(data, 100, sampler=range(*ends)) for ends in ((0, 1200), (1200, 1797)))
    quiet = {"accelerator": "cpu", "enable_progress_bar": False, "enable_model_summary": False}
    report = TuneReportCheckpointCallback(on="train_epoch_end")
    trainer = pl.Trainer(max_epochs=8, enable_checkpointing=False, logger=False, callbacks=[report], **quiet)
    checkpoint = tune.get_checkpoint()
    trainer.fit(
        Digits(**config), training, validation, ckpt_path=checkpoint and f"{checkpoint.path}/checkpoint"
    )


if __name__ == "__main__":
    space = {"units": tune.choice([16, 32, 64]), "lr": tune.loguniform(1e-4, 1e-1)}
    analysis = tune.run(
        train, config=space, num_samples=8, metric="val_accuracy", mode="max", scheduler="asha", seed=0
    )
    print(f"{analysis.best_result['val_accuracy']:.3f} with {analysis.best_config}")
