"""cqbench soak: hours of everything, and whether anything grows."""
