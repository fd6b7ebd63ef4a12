"""Google Compute Engine: the keys that Ray's launcher needs, and what the launcher finds and deletes."""
