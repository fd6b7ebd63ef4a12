"""Amazon EC2: the keys that Ray's launcher needs, and what the launcher makes, finds and deletes."""
