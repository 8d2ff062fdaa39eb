"""Read-only SQL over the tables of a store, by DuckDB with nothing else in its reach."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from clar_tune.errors import QueryError
from clar_tune.rows import TABLES
from clar_tune.store.snapshot import Snapshot
from clar_tune.store.store import Store

MEMORY = "2GB"
"""What a query may take before it goes on in temporary files."""

_TABLE_FUNCTIONS = {"range", "generate_series", "unnest", "repeat", "json_each", "json_tree"}
_EXPLAIN = re.compile(r"\s*explain(\s+analyze)?\s", re.IGNORECASE)
_REACH = f"only the tables {', '.join(TABLES)} can be read here."
_CONFIG: dict[str, Any] = {
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "memory_limit": MEMORY,
    "python_enable_replacements": False,
}


def run_query(store: Store, sql: str) -> Any:
    """The answer to one SELECT as a pyarrow table; ``store.damaged()`` names what it lacks."""
    with TemporaryDirectory(prefix="clar-tune-") as scratch:
        connection = duckdb.connect(config={**_CONFIG, "temp_directory": scratch})
        try:
            _check(connection, sql)
            _add_tables(connection, store, sql)
            return _answer(connection, sql)
        except duckdb.PermissionException as error:
            raise QueryError(f"{_REACH} {_one_line(error)}") from error
        except duckdb.Error as error:
            raise QueryError(_one_line(error)) from error
        finally:
            connection.close()


def _check(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Refuse all but one statement that reads tables; files are out of reach besides."""
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(f"one SELECT statement is needed, got {len(statements)} statements.")
    if statements[0].type == duckdb.StatementType.EXPLAIN:
        return _check(connection, _explained(sql))
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = statements[0].type.name
        hint = " Give the values of PIVOT with IN (…)." if kind == "MULTI" else ""
        raise QueryError(f"only SELECT is allowed here, not {kind}.{hint}")
    tree = json.loads(connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0])
    if tree["error"]:
        raise QueryError(f"this form of SELECT is not allowed here: {tree['error_message']}")
    for name in _table_functions(tree):
        if name.lower() not in _TABLE_FUNCTIONS:
            raise QueryError(f"{_REACH} {name} is not allowed.")


def _explained(sql: str) -> str:
    start = _EXPLAIN.match(sql)
    if start is None:
        raise QueryError("EXPLAIN is allowed here only as the first word.")
    return sql[start.end() :]


def _table_functions(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if node.get("type") == "TABLE_FUNCTION":
            yield node["function"]["function_name"]
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from _table_functions(child)


def _add_tables(connection: duckdb.DuckDBPyConnection, store: Store, sql: str) -> None:
    """Define the tables, then lock everything that is not needed to read them."""
    # Files of tables that the text does not mention need not even be opened.
    shots = {name: store.snapshot(name, empty=name not in sql.lower()) for name in TABLES}
    paths = [path for shot in shots.values() if shot.files.local for path in shot.paths]
    connection.execute(f"SET allowed_paths = {_list(paths)}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("CREATE SCHEMA ahead")
    for name, shot in shots.items():
        _add_table(connection, name, shot)
    connection.execute("SET lock_configuration = true")


def _add_table(connection: duckdb.DuckDBPyConnection, name: str, shot: Snapshot) -> None:
    sources = []
    if shot.rows.num_rows or not shot.paths:
        connection.register("_rows", shot.rows)
        connection.execute(f"CREATE TABLE ahead.{name} AS FROM _rows")
        connection.unregister("_rows")
        sources.append(f"ahead.{name}")
    if shot.paths and shot.files.local:
        options = "hive_partitioning = true, hive_types = {'run': VARCHAR}"
        sources.append(f"read_parquet({_list(shot.paths)}, {options})")
    elif shot.paths:
        connection.register(f"_{name}", shot.dataset())
        sources.append(f"_{name}")
    columns = ", ".join(f'"{column}"' for column in shot.rows.column_names)
    selects = (f"SELECT {columns} FROM {source}" for source in sources)
    connection.execute(f"CREATE VIEW {name} AS {' UNION ALL '.join(selects)}")


def _answer(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """The result, from a thread: the caller can then be interrupted while DuckDB works."""
    with ThreadPoolExecutor(1) as worker:
        answer = worker.submit(lambda: connection.sql(sql).to_arrow_table())
        try:
            return answer.result()
        except KeyboardInterrupt:
            connection.interrupt()
            raise


def _list(texts: list[str]) -> str:
    quoted = ("'" + text.replace("'", "''") + "'" for text in texts)
    return f"[{', '.join(quoted)}]"


def _one_line(error: duckdb.Error) -> str:
    """What DuckDB says before it quotes the query."""
    said = " ".join(str(error).partition("\nLINE ")[0].split())
    return said if said.endswith(("?", "!", ".")) else f"{said}."
