"""`cqbench run`: its command line, and what it shows of an experiment that has ended."""
