"""Check: may these results be believed? Rules over what a folder has and what follows from it."""
