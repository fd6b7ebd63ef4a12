"""Programs as trials: their command lines, output, metrics, checkpoints and ends."""
