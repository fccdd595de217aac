"""The `cqbench verdict` command."""
