"""Two sides, point by point: pure functions, no files."""
