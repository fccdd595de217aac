"""Decides what holds a machine back: pure functions, no files, no text."""
