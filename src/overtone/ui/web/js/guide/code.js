/** The script at the end of the guide: a search over the reader's own function. */
export const CODE = `from overtone import tune

def train(config):
    loss = 10.0
    for step in range(100):  # your training
        loss += config["lr"] * (1 - loss)
        tune.report({"loss": loss})

tune.run(train, config={"lr": tune.loguniform(1e-4, 1)}, num_samples=40,
         metric="loss", mode="min", scheduler="auto", ui=True)
`;
