"""Names that others may import from here; each is loaded when it is first used."""

from .writer import script_of as script_of
