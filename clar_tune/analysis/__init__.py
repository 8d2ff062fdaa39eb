"""Stored rows to numbers and conclusions; needs neither torch nor Ray."""
