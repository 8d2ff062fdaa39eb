"""``clar-tune`` on a bucket: a :class:`Place` whose store is on S3."""

from pathlib import Path

from support.commands import PACED, Place

from benchmarks.s3_server import BUCKET, Server
from clar_tune.store import Store


class S3Place(Place):
    """A folder whose commands write to a bucket; tests read it as a process beside them would."""

    def __init__(self, folder: Path, server: Server) -> None:
        super().__init__(folder, PACED)
        self.url, self.server = f"s3://{BUCKET}/{folder.name}", server
        self.given = {**server.environment, "CLAR_TUNE_STORE": self.url}
        self.cache = folder / "cache"
        self.store = Store.open(self.url)

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), **self.given, "XDG_CACHE_HOME": str(self.cache)}
