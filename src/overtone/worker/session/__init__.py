"""The session of a trial: the calls of training code and its information about the trial."""
