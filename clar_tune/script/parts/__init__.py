"""Pieces of scripts: real modules, which are put into one file as they stand here."""
