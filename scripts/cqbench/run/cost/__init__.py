"""What one call costs, counted: `cqbench cost`, and bills beside each other."""
