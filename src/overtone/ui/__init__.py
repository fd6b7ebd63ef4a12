"""The dashboard: a page that shows experiments while they run, and steers them; its report and its widget."""
