"""The Python behind scripts/bench.sh and scripts/peers.sh. Standard library only; run as `python -m cqbench.NAME`."""
