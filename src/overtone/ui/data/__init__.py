"""The contents of the dashboard, the report and the notebook widget, as plain data and bytes."""
