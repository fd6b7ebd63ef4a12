"""Small models and data for examples."""
