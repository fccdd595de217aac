"""Intervals, tests, fitted laws. Pure functions of numbers; nothing of cqbench above them."""
