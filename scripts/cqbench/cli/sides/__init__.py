"""The `cqbench compare` command, and how its arguments become sides."""
