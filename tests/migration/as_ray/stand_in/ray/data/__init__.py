# ruff: noqa
import ray.train as train
import ray.tune
from ray import tune
from ray.tune.registry import environments
from ray.train import *


def owners():
    import ray.train

    return train.__doc__, ray.tune.Trainable.__doc__, tune is ray.train.tune, ray.__name__, ray.data.__name__
