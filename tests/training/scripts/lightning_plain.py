"""Training with Lightning in one process."""

import lightning.pytorch as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


class Line(pl.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.layer, self.lr = torch.nn.Linear(1, 1), lr

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = ((self.layer(x) - y) ** 2).mean()
        self.log("loss", loss, on_epoch=True, on_step=False, sync_dist=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr)


def train(config):
    pl.seed_everything(0)
    x = torch.arange(32.0)[:, None] / 32
    loader = DataLoader(TensorDataset(x, 2 * x), batch_size=4, shuffle=True)
    trainer = pl.Trainer(
        max_epochs=config["epochs"],
        accelerator="cpu",
        enable_progress_bar=False,
        enable_model_summary=False,
        logger=False,
        enable_checkpointing=False,
    )
    trainer.fit(Line(config["lr"]), loader)


if __name__ == "__main__":
    train({"lr": 0.1, "epochs": 3})
