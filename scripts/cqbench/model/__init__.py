"""What is compared with what, which points count, and which numbers decide: shared by every analysis."""
