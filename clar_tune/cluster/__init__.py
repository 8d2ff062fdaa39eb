"""Everything that knows Ray."""
