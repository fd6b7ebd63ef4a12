from overtone import tune


def train(config):
    for step in range(1, 21):
        tune.report(loss=(config["x"] - 3) ** 2 + config["y"] / step)


space = {"x": tune.uniform(0, 10), "y": tune.choice([1, 2, 4])}
analysis = tune.run(train, config=space, num_samples=20, metric="loss", mode="min", scheduler="asha")
print(analysis.best_config)
