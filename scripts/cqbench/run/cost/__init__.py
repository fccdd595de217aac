"""Counts the cost of one call: `cqbench cost`, and comparisons of profiles."""
