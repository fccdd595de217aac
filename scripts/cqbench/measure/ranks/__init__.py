"""One result of many client processes' files: `cqbench merge`, and the launcher that `cqbench run --ranks` uses."""
