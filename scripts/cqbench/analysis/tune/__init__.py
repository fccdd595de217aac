"""Finds settings for this machine: a catalogue, a screening of all at once, a confirmation of the survivors, the
best set.
"""
