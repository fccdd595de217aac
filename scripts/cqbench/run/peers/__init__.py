"""Compares this project's client with other clients."""
