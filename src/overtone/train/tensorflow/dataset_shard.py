"""Datasets of TensorFlow that are a rank's shard already."""

from __future__ import annotations

from typing import Any


def prepare_dataset_shard(tf_dataset_shard: Any) -> Any:
    """Return the dataset so that the strategy does not split it once more, and with batches prepared ahead.

    Args:
        tf_dataset_shard: A `tf.data.Dataset` of the rank's own rows.
    """
    import tensorflow as tf  # type: ignore[import-untyped,import-not-found,unused-ignore]

    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return tf_dataset_shard.with_options(options).prefetch(tf.data.AUTOTUNE)
