"""`hyperparameter_search` of Transformers with Overtone: a small transformer for handwritten digits."""

import torch
from sklearn.datasets import load_digits
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

from overtone import tune
from overtone.tune.integration.transformers_search import OVERTONE

SHAPE = {"vocab_size": 65, "max_position_embeddings": 16, "n_layers": 1, "n_heads": 2, "num_labels": 10}
QUIET = {"report_to": "none", "disable_tqdm": True, "use_cpu": True}


def digits():
    images, labels = load_digits(return_X_y=True)
    tokens = torch.tensor(images).long().reshape(-1, 4, 2, 4, 2).sum((2, 4)).flatten(1)  # of 2 by 2 pixels
    return [{"input_ids": row, "labels": label} for row, label in zip(tokens, labels, strict=True)]


def model_init(trial):
    return DistilBertForSequenceClassification(DistilBertConfig(dim=32, hidden_dim=32, **SHAPE))


def space(trial):
    return {
        "learning_rate": tune.loguniform(1e-4, 1e-1),
        "per_device_train_batch_size": tune.choice([50, 100]),
    }


if __name__ == "__main__":
    data = digits()
    arguments = TrainingArguments("output", num_train_epochs=5, eval_strategy="epoch", **QUIET)
    trainer = Trainer(
        args=arguments, train_dataset=data[:1200], eval_dataset=data[1200:], model_init=model_init
    )
    best = trainer.hyperparameter_search(space, n_trials=8, backend=OVERTONE, scheduler="asha", seed=0)
    print(f"{best.objective:.3f} with {best.hyperparameters}")
