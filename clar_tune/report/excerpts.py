"""What is said of tables too long to be read: how much is shown, and where all of it is."""

COMPARE_HAS_ALL = "clar-tune compare --format csv prints all."


def left_out(shown: int, all_items: int, all_in: str) -> str:
    """What to say of an excerpt; nothing of what is whole."""
    if shown == all_items:
        return ""
    return f" Excerpt: {shown:,} of {all_items:,} lines, the first of every graph; {all_in}"
