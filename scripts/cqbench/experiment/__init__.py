"""Experiments: what a file says, the order of its runs, running them, and the record of what was run."""
