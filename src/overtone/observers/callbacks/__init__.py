"""Callbacks of users, and what drives them."""
