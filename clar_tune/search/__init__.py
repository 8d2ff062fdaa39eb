"""The decisions of a run: what is tried, pruned and confirmed. Knows no Ray, no files."""
