"""One self-contained page about runs: as a file, or served while they go on."""

from clar_tune.report.access import TOKEN_VARIABLE, Access
from clar_tune.report.live import LivePage
from clar_tune.report.page import build_page
from clar_tune.report.server import PageServer

__all__ = ["TOKEN_VARIABLE", "Access", "LivePage", "PageServer", "build_page"]
