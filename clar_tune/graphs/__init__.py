"""Graphs: what they hold, how they are split and varied, where their files come from."""
