"""Schedules: commands that people plan for later, once or each week. At each time a batch is made."""
