"""The server of the dashboard: a process of its own that reads experiments' folders."""
