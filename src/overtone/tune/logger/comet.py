"""Where scripts for Ray Tune import `CometLoggerCallback`, which this version lacks."""

from overtone.tune.logger.trackers import missing

raise missing("comet", "CometLoggerCallback", "comet-ml")
