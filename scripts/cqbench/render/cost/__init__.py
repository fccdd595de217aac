"""Cost profiles for people."""
