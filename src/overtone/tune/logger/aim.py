"""Where scripts for Ray Tune import `AimLoggerCallback`, which this version lacks."""

from overtone.tune.logger.trackers import missing

raise missing("aim", "AimLoggerCallback", "aim")
