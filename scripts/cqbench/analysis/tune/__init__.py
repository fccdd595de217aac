"""What to set here: settings as data, a screening of all at once, a confirmation of the survivors, and the best set."""
