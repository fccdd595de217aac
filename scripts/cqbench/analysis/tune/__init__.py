"""What to set here: knobs as data, a screening of all at once, a confirmation of the survivors, and the best set."""
