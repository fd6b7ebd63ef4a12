# ruff: noqa
# The article on Ray and Ray Tune of May 2021: a Trainable, ASHA and the command line reporter.
# Changed: the imports, one CPU and no GPU for each trial, fewer and shorter trials.
import os

import torch
import torch.optim as optim

import overtone as ray
from overtone import tune
from overtone.tune.examples.mnist_pytorch import train, test, get_data_loaders, ConvNet


class MNISTTrainable(tune.Trainable):
    def setup(self, config):
        use_cuda = config.get("use_gpu") and torch.cuda.is_available()
        self.device = torch.device("cuda" if use_cuda else "cpu")
        self.train_loader, self.test_loader = get_data_loaders()
        self.model = ConvNet().to(self.device)
        self.optimizer = optim.SGD(
            self.model.parameters(), lr=config.get("lr", 0.01), momentum=config.get("momentum", 0.9)
        )

    def step(self):
        train(self.model, self.optimizer, self.train_loader, device=self.device)
        acc = test(self.model, self.test_loader, self.device)
        return {"mean_accuracy": acc}

    def save_checkpoint(self, checkpoint_dir):
        checkpoint_path = os.path.join(checkpoint_dir, "checkpoint.bin")
        torch.save((self.model.state_dict(), self.optimizer.state_dict()), checkpoint_path)
        return checkpoint_path

    def load_checkpoint(self, checkpoint_path):
        model, optimizer = torch.load(checkpoint_path)
        self.model.load_state_dict(model)
        self.optimizer.load_state_dict(optimizer)


from overtone.tune.schedulers import ASHAScheduler
from overtone.tune import CLIReporter

if __name__ == "__main__":
    # 初始化 Ray 集群
    ray.init(address="auto")
    # 开始搜索超参
    sched = ASHAScheduler(metric="mean_accuracy", mode="max")
    reporter = CLIReporter()
    analysis = tune.run(
        MNISTTrainable,
        scheduler=sched,
        progress_reporter=reporter,
        stop={"mean_accuracy": 0.99, "training_iteration": 4},
        resources_per_trial={"cpu": 1, "gpu": 0},
        num_samples=4,
        config={"lr": tune.uniform(0.001, 1.0), "momentum": tune.uniform(0.1, 0.9), "use_gpu": True},
    )
    # 保存实验结果
    analysis.results_df.to_csv("result.csv")
    # 获得最佳参数
    print("Best config is:", analysis.get_best_config(metric="mean_accuracy", mode="max"))
