"""Comparisons and runs to blocks: each table is made in one place, whatever shows it."""
