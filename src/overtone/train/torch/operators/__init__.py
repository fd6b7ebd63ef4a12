"""Training written as an operator: a class with `setup`, whose loops run on every worker."""
