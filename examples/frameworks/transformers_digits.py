"""A small transformer of Transformers for handwritten digits, and a search for its learning rate."""

import torch
from sklearn.datasets import load_digits
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

from overtone import tune
from overtone.tune.integration.transformers import TuneReportCallback

SHAPE = {"vocab_size": 65, "max_position_embeddings": 16, "n_layers": 1, "n_heads": 2, "num_labels": 10}
QUIET = {"report_to": "none", "disable_tqdm": True, "use_cpu": True}


def train(config):
    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    tokens = torch.tensor(images).long().reshape(-1, 4, 2, 4, 2).sum((2, 4)).flatten(1)  # of 2 by 2 pixels
    data = [{"input_ids": row, "labels": label} for row, label in zip(tokens, labels, strict=True)]
    units = config["units"]
    model = DistilBertForSequenceClassification(DistilBertConfig(dim=units, hidden_dim=units, **SHAPE))
    arguments = TrainingArguments(
        "output",
        learning_rate=config["lr"],
        num_train_epochs=5,
        per_device_train_batch_size=50,
        per_device_eval_batch_size=200,
        eval_strategy="epoch",
        save_strategy="epoch",
        **QUIET,
    )
    report = [TuneReportCallback()]
    trainer = Trainer(model, arguments, train_dataset=data[:1200], eval_dataset=data[1200:], callbacks=report)
    checkpoint = tune.get_checkpoint()
    trainer.train(resume_from_checkpoint=checkpoint and checkpoint.path)


if __name__ == "__main__":
    space = {"units": tune.choice([16, 32]), "lr": tune.loguniform(1e-4, 1e-1)}
    analysis = tune.run(
        train, config=space, num_samples=8, metric="eval_loss", mode="min", scheduler="asha", seed=0
    )
    print(f"{analysis.best_result['eval_loss']:.3f} with {analysis.best_config}")
