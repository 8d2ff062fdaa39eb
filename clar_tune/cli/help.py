"""What ``clar-tune --help`` lists: the commands by task, each in a whole sentence."""

import click

TASKS = {
    "Search": ("run", "resume", "extend"),
    "Look at results": ("compare", "report", "runs", "show", "best", "query", "export"),
    "Train one model": ("train", "repro"),
    "See what there is": ("spaces", "graphs", "doctor"),
    "Let a cluster drive": ("submit", "status", "logs", "stop"),
}
"""Every command, in the order in which a newcomer meets them."""

MOST = 200
"""Characters of a sentence: more than any has, so that none is cut."""


class ByTask(click.Group):
    """A group whose help lists its commands by task."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One section per task; all have the same indentation."""
        width = max(map(len, self.commands))
        for task, names in TASKS.items():
            rows = [
                (name.ljust(width), self.commands[name].get_short_help_str(MOST))
                for name in names
                if name in self.commands
            ]
            with formatter.section(task):
                formatter.write_dl(rows)
