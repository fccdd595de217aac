"""Two sides, point by point."""
