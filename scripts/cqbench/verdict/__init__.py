"""Decides what holds this machine back and says it in words."""
