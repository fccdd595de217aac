"""Experiments: what varies, in which order, on which CPUs, and running it."""
