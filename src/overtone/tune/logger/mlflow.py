"""Where scripts for Ray Tune import `MLflowLoggerCallback`, which this version lacks."""

from overtone.tune.logger.trackers import missing

raise missing("mlflow", "MLflowLoggerCallback", "mlflow")
