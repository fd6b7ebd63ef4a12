"""Training with Transformers in one process: a tiny model from a config."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


def train(config):
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=1))
    tokens = torch.arange(64).reshape(16, 4) % 16
    data = [{"input_ids": row, "labels": row} for row in tokens]
    arguments = TrainingArguments(
        output_dir="output",
        learning_rate=config["lr"],
        num_train_epochs=config["epochs"],
        per_device_train_batch_size=4,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=data, eval_dataset=data)
    trainer.train()


if __name__ == "__main__":
    train({"lr": 0.1, "epochs": 2})
