"""Measuring: processes and their groups, placement on CPUs, other load, proxies and connections that fail."""
