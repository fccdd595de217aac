"""One page to look at."""
