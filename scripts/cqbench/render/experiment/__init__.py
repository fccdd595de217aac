"""The tables that end an experiment."""
