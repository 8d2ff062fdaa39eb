"""Measurements, each of which prints a table; and what keeps the page of results up to date."""
