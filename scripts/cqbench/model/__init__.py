"""Scenarios, usable points, and deciding numbers: shared by every analysis."""
