"""Names that others may import from here; each is loaded when it is first used."""

from .addresses import refuse_credentials as refuse_credentials, resolve as resolve
from .files import Files as Files
from .holder import Access as Access, LeaseTimes as LeaseTimes
from .parquet import encoded as encoded
from .run_names import LATEST as LATEST, check_name as check_name, fresh_name as fresh_name
from .sql import run_query as run_query
from .store import Store as Store, StoredRun as StoredRun
from .writer import RunWriter as RunWriter
