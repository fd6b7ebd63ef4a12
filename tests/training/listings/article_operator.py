# ruff: noqa
# The article's second half: MNISTrainingOperator, and a search over TorchTrainer.as_trainable.
# Changed: the imports, two workers of one CPU and no GPU, fewer and shorter trials; FP16 and SAMPLES come from
# the command line; cut_short takes the first images of each set, so that the test is quick.
import sys

import torch
import torch.optim as optim
from torch.utils.data import DataLoader, Subset

import overtone as ray
from overtone import tune
from overtone.tune import CLIReporter
from overtone.tune.examples.mnist_pytorch import get_data_loaders as whole_loaders, ConvNet
from overtone.tune.schedulers import ASHAScheduler
from overtone.util.sgd.torch import TorchTrainer, TrainingOperator

FP16, SAMPLES = sys.argv[1] == "fp16", int(sys.argv[2])


def get_data_loaders():
    return [
        DataLoader(Subset(loader.dataset, range(SAMPLES)), batch_size=64, shuffle=True)
        for loader in whole_loaders()
    ]


class MNISTrainingOperator(TrainingOperator):
    def setup(self, config):
        train_loader, test_loader = get_data_loaders()
        model = ConvNet()
        optimizer = optim.SGD(
            model.parameters(), lr=config.get("lr", 1e-4), momentum=config.get("momentum", 0.9)
        )
        criterion = torch.nn.NLLLoss()
        self.model, self.optimizer, self.criterion = self.register(
            models=model, optimizers=optimizer, criterion=criterion
        )
        self.register_data(train_loader=train_loader, validation_loader=test_loader)


if __name__ == "__main__":
    ray.init(address="auto", num_cpus=6)
    trainable = TorchTrainer.as_trainable(
        training_operator_cls=MNISTrainingOperator,
        num_workers=2,
        num_cpus_per_worker=1,
        use_gpu=False,
        use_fp16=FP16,
        config={"batch_size": 16},
    )
    sched = ASHAScheduler(metric="mean_accuracy", mode="max")
    reporter = CLIReporter()
    analysis = tune.run(
        trainable,
        scheduler=sched,
        progress_reporter=reporter,
        stop={"mean_accuracy": 0.99, "training_iteration": 4},
        num_samples=4,
        config={"lr": tune.uniform(0.001, 1.0), "momentum": tune.uniform(0.1, 0.9)},
    )
    analysis.results_df.to_csv("result.csv")
    print("Best config is:", analysis.get_best_config(metric="mean_accuracy", mode="max"))
