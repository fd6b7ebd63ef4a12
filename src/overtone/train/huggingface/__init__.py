"""Libraries of Hugging Face in the ranks of a `TorchTrainer`."""
