"""What one call costs, counted: `cqbench cost`, and profiles beside each other."""
