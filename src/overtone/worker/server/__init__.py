"""The processes of trials: how they are started, what runs in them, and how they end."""
