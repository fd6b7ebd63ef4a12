"""A small transformer of Transformers for handwritten digits."""

import torch
from sklearn.datasets import load_digits
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

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
    trainer = Trainer(model, arguments, train_dataset=data[:1200], eval_dataset=data[1200:])
    trainer.train()
    return {"eval_loss": [log["eval_loss"] for log in trainer.state.log_history if "eval_loss" in log]}


if __name__ == "__main__":
    print(train({"units": 16, "lr": 0.01})["eval_loss"][-1])
