"""The store against a server that speaks S3: requests, refusals, clear errors."""

import time

import pytest
from support.killed_drivers import assert_sigkill_loses_and_doubles_nothing, keys
from support.stored_rows import final_row, repeat_row, run_row, trial_row

from benchmarks.s3_server import BUCKET, SECRET_KEY, s3_server
from clar_tune.errors import StoreError
from clar_tune.store import Access, LeaseTimes, Store, tables, writer
from clar_tune.store.objects import Objects
from clar_tune.store.sql import run_query


@pytest.fixture(scope="module")
def server():
    with s3_server() as running:
        yield running


@pytest.fixture
def store(request, server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    yield Store.open(f"s3://{BUCKET}/{request.node.name}/a folder")
    server.refuse_writes(None)


def test_a_run_is_written_read_and_queried(store):
    assert store.runs() == []
    run = store.create("first", run_row())
    run.append([repeat_row(0), trial_row(0)])
    assert keys(store) == [0]
    run.flush()
    run.append([repeat_row(1), trial_row(0, repeats=2)])
    counted = "SELECT run, count(*) AS n FROM repeats GROUP BY ALL"
    assert run_query(store, counted).to_pylist() == [{"run": "first", "n": 2}]
    run.close(state="finished")
    assert keys(store) == [0, 1] and [row.repeats for row in store.trials("first")] == [2]
    assert run_query(store, counted).to_pylist() == [{"run": "first", "n": 2}]
    assert [run.row.state for run in store.runs()] == ["finished"]
    with pytest.raises(StoreError, match="run 'first' exists in s3://"):
        store.create("first", run_row())


def test_requests_are_few(store, server):
    """Objects are put at once and read in one piece; nothing is listed in a flush."""
    run = store.create("first", run_row())
    run.append([repeat_row(0), trial_row(0), final_row(0)])
    run.flush()
    run.append([repeat_row(number) for number in range(1, 1000)] + [trial_row(0), final_row(1)])
    server.requests()
    run.flush()
    assert [line.split()[0] for line in server.requests()] == ["PUT", "PUT", "PUT"]  # a table each
    assert len(store.table("repeats", "first")) == 1000
    assert [line.split()[0] for line in server.requests()] == ["GET", "HEAD", "GET"]
    run.close()
    for name in ("second", "third"):
        store.create(name, run_row()).close()
    server.requests()
    assert len(store.runs()) == 3
    assert len(server.requests()) == 1 + 2 * 3  # one listing, a head and a get per manifest
    objects = [path for path in store._files.under("") if "first" in path]
    assert sorted(objects) == [
        "finals/run=first/part-00000.parquet",
        "repeats/run=first/part-00000.parquet",
        "runs/run=first/_lease.json",  # released; it cannot be removed under a condition
        "runs/run=first/part-00000.parquet",
        "trials/run=first/part-00000.parquet",
    ]


def test_sigkill_at_any_moment_loses_and_doubles_nothing(store):
    assert_sigkill_loses_and_doubles_nothing(store, 3, 1.0)


@pytest.mark.parametrize("fault", ["slow-down", "forbidden"])
def test_refused_writes_lose_nothing(store, server, fault, monkeypatch):
    monkeypatch.setattr(writer, "REMOTE_PERIOD", 0.0)
    monkeypatch.setattr(writer, "FIRST_RETRY", 0.01)
    run = store.create("first", run_row())
    server.refuse_writes(fault)
    server.requests()
    for number in range(3):
        run.append([repeat_row(number)])
        run.tick()
    run.update(state="paused")
    status = {"slow-down": " 503", "forbidden": " 403"}[fault]
    assert any(line.endswith(status) for line in server.requests())
    assert keys(store) == [0, 1, 2] and store.find("first").row.state == "paused"
    server.refuse_writes(None)
    time.sleep(0.2)
    run.tick()
    assert run._pending == 0
    run.close()
    assert keys(store) == [0, 1, 2]


@pytest.mark.parametrize("rows_per_part", [3, tables.ROWS_PER_PART])
@pytest.mark.parametrize("row", [trial_row, repeat_row, final_row])
def test_a_write_whose_answer_was_lost_adds_nothing_when_tried_again(
    store, server, row, rows_per_part, monkeypatch
):
    monkeypatch.setattr(tables, "ROWS_PER_PART", rows_per_part)
    run = store.create("first", run_row())
    run.append([row(0)])
    run.flush()
    run.append([row(1), row(2), row(3)])
    server.refuse_writes("lost-answer")
    with pytest.raises(StoreError, match="cannot be written"):
        run.flush()
    server.refuse_writes(None)
    run.append([row(4)])
    run.close(state="finished")
    counted = " UNION ALL ".join(f"SELECT seq FROM {t}" for t in ("trials", "repeats", "finals"))
    stored = run_query(store, counted)["seq"].to_pylist()
    assert sorted(stored) == [0, 1, 2, 3, 4]


def test_the_last_rows_wait_for_a_store_that_refuses(store, server, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    server.refuse_writes("slow-down")
    waited = []

    def recover(seconds):
        waited.append(seconds)
        server.refuse_writes(None)

    monkeypatch.setattr(writer.time, "sleep", recover)
    run.close(state="finished")
    assert waited
    assert keys(store) == [0] and store.find("first").row.state == "finished"
    assert not store.driven(store.find("first"))


def test_a_store_that_refuses_for_long_ends_the_driver_and_keeps_the_rows(
    store, server, monkeypatch
):
    monkeypatch.setattr(writer, "LAST_PATIENCE", 0.0)
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    server.refuse_writes("forbidden")
    with pytest.raises(StoreError, match="cannot be written: the credentials") as caught:
        run.close(state="finished")
    assert "s3://" in str(caught.value) and "\n" not in str(caught.value)
    server.refuse_writes(None)
    assert keys(store) == [0]
    again = Store.open(store.url, access=Access(take_over=True)).reopen("first")
    assert again.lost == 0 and again.row.state == "finished"
    again.close()
    assert keys(store) == [0]


@pytest.mark.parametrize("deed", [Store.runs, lambda s: s.find("it"), lambda s: s.check_new("it")])
def test_a_bucket_that_is_not_there_is_named(store, deed):
    with pytest.raises(StoreError, match="there is no bucket 'nowhere'. Create it first"):
        deed(Store.open("s3://nowhere/folder"))


@pytest.mark.parametrize("deed", [Store.runs, lambda s: s.find("it"), lambda s: s.check_new("it")])
def test_wrong_credentials_are_one_clear_line_without_them(store, monkeypatch, deed):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDUNKNOWN")
    with pytest.raises(StoreError, match="credentials of this environment do not") as caught:
        deed(Store.open(store.url))
    said = str(caught.value)
    assert "AKIDUNKNOWN" not in said and SECRET_KEY not in said and "\n" not in said


def test_a_bucket_that_ignores_conditions_is_refused_before_anything_is_written(store, server):
    server.refuse_writes("no-conditions")
    with pytest.raises(StoreError, match="does not honour conditional writes .* --single-driver"):
        store.check_new("first")
    with pytest.raises(StoreError, match="does not honour conditional writes"):
        store.check_free("first")
    assert store._files.under("") == []
    alone = Store.open(store.url, LeaseTimes(settle=0.0), Access(single_driver=True))
    alone.check_new("first")
    run = alone.create("first", run_row())
    run.append([repeat_row(0)])
    run.close(state="finished")
    assert keys(store) == [0]


def test_a_bucket_that_honours_conditions_is_known_and_left_as_it_was(store):
    assert store.check_fence() == "by conditional writes (If-None-Match, If-Match)"
    assert store._files.under("") == []


def test_a_heartbeat_whose_answer_was_lost_is_ones_own(store, monkeypatch):
    run = store.create("first", run_row())
    put = Objects.put

    def lost(objects, path, data, version):
        put(objects, path, data, version)
        monkeypatch.setattr(Objects, "put", put)
        raise OSError(0, "no answer")

    monkeypatch.setattr(Objects, "put", lost)
    with pytest.raises(StoreError, match="no answer"):
        run._lease.renew(1)
    run._lease.renew(2)
    run._lease.check()
    run.close()


def test_a_driver_whose_lease_was_deleted_is_kept_out_by_the_next_one(
    store, monkeypatch, tmp_path
):
    first = store.create("first", run_row())
    first.append([repeat_row(0), trial_row(0)])
    first.flush()
    first.append([repeat_row(1)])
    store._files.delete("runs/run=first/_lease.json")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    second = store.reopen("first")
    # Its own last part is as it left it; only the condition of the write can tell.
    with pytest.raises(StoreError, match="writes nothing more"):
        first.flush()
    second.append([repeat_row(2)])
    second.close()
    assert keys(store) == [0, 2]


def test_a_driver_is_kept_out_though_its_overtaker_failed_before_it_had_claimed_all(
    store, monkeypatch, tmp_path
):
    sure = Store.open(store.url, access=Access(take_over=True))
    first = store.create("first", run_row())
    first.append([repeat_row(0), trial_row(0)])
    first.flush()
    first.append([repeat_row(1)])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    with monkeypatch.context() as failing, pytest.raises(StoreError, match="no claim today"):
        failing.setattr(tables.Parts, "claim", lambda *_: _refuse("no claim today"))
        sure.reopen("first")
    second = sure.reopen("first")
    with pytest.raises(StoreError, match="writes nothing more"):
        first.flush()
    second.append([repeat_row(2)])
    second.close()
    assert keys(store) == [0, 2]


def _refuse(reason):
    raise StoreError(reason)


def test_keys_of_a_profile_are_taken_where_the_environment_has_none(
    store, server, tmp_path, monkeypatch
):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    file = tmp_path / "credentials"
    lines = [f"{k.lower()} = {v}" for k, v in server.credentials.items() if k != "AWS_REGION"]
    file.write_text("\n".join(["[tests]", *lines]))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "tests")
    opened = Store.open(store.url)
    opened.create("first", run_row()).close(state="finished")
    assert opened.find("first").row.state == "finished"
