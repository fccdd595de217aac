"""The answer of `cqbench tune`."""
