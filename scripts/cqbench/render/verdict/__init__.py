"""A judgement in words: as text and as JSON."""
