"""Cost profiles of `cqbench cost` as files: what was counted, read and written, and shown."""
