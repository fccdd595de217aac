"""Files of programs and experiments: read and checked once, one model each."""
