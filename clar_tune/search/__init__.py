"""The search on Ray: all that knows it lives in this folder."""
