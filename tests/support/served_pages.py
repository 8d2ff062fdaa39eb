"""Pages of a live report, served on loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from support.results import finished

from clar_tune.analysis.runs import RunView
from clar_tune.report import Access, LivePage, PageServer


@cache
def run() -> RunView:
    return finished(graphs=("texas",), methods=("gcn", "gcn+clar"))


@contextmanager
def serving(live: LivePage, access: Access | None = None, port: int = 0) -> Iterator[PageServer]:
    with PageServer("127.0.0.1", port, access or Access()) as server:
        server.page = live
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
