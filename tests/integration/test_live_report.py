"""The page that refreshes itself: who may see it, and what a reader of it keeps."""

import html
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.results import simulated, stored
from support.served_pages import run, serving

from clar_tune.analysis.progress import PRUNED_SHARE, stored_progress
from clar_tune.analysis.runs import RunView
from clar_tune.cli.report import report
from clar_tune.errors import ParameterError, StoreError
from clar_tune.report import Access, LivePage, PageServer
from clar_tune.report.access import is_loopback
from clar_tune.report.live import Rates
from clar_tune.report.progress import Liveness, progress_of

TOKEN = "a token of 20 signs!"


@cache
def page() -> LivePage:
    return LivePage(lambda: [(run(), False)])


def asked(
    server: PageServer, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], str]:
    """Status, headers and text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    try:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=given)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def open_server() -> Iterator[PageServer]:
    with serving(page()) as server:
        yield server


@pytest.fixture(scope="module")
def guarded() -> Iterator[PageServer]:
    with serving(page(), Access(TOKEN)) as server:
        yield server


def test_the_page_is_served_with_headers_that_protect_it(open_server: PageServer):
    status, headers, text = asked(open_server, "/")
    assert status == 200 and "What follows from it" in text
    assert "connect-src 'self'" in html.unescape(text)
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "Python" not in headers["Server"]


def test_content_is_sent_only_if_it_changed(open_server: PageServer):
    status, headers, text = asked(open_server, "/content")
    assert status == 200 and "<html" not in text and "What follows from it" in text
    status, again, text = asked(open_server, "/content", If_None_Match=headers["ETag"])
    assert (status, text, again["ETag"]) == (304, "", headers["ETag"])
    assert asked(open_server, "/content", If_None_Match='"other"')[0] == 200


def test_data_of_a_study_are_served_by_its_key(open_server: PageServer):
    for key, text in page().built.studies.items():
        assert asked(open_server, f"/study/{key}.json")[2] == text
        assert json.loads(text)["key"] == key
        assert f"study-{key}" not in page().built.page


@pytest.mark.parametrize(
    "path", ["/index.html", "/study/none.json", "/study/", "/../README.md", "//[", "/content/"]
)
def test_all_else_is_not_found(open_server: PageServer, path: str):
    status, headers, text = asked(open_server, path)
    assert status == 404 and text == "404: there is nothing here\n"
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"])
def test_only_reading_is_allowed(open_server: PageServer, method: str):
    status, headers, text = asked(open_server, "/", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD") and "html" not in text


def test_a_head_has_no_body(open_server: PageServer):
    status, headers, text = asked(open_server, "/", "HEAD")
    assert (status, text) == (200, "") and int(headers["Content-Length"]) > 100_000


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "0.0.0.0"])
def test_a_name_that_is_not_this_machine_is_turned_away(open_server: PageServer, host: str):
    status, _, text = asked(open_server, "/", Host=host)
    assert status == 421 and "texas" not in text


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:80", "LOCALHOST"])
def test_names_of_this_machine_are_welcome(open_server: PageServer, host: str):
    assert asked(open_server, "/content", Host=host)[0] == 200


@pytest.mark.parametrize("path", ["/", "/content", "/none", "/?token=", "/?token=wrong"])
def test_without_the_token_nothing_is_told(guarded: PageServer, path: str):
    status, headers, text = asked(guarded, path)
    assert status == 401 and headers["WWW-Authenticate"] == "Bearer"
    assert text == "401: this report needs the token that its server printed\n"
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize("wrong", ["Bearer wrong", "Bearer", "Basic YTpi", "Bearer " + "ü" * 20])
def test_a_wrong_token_opens_nothing(guarded: PageServer, wrong: str):
    assert asked(guarded, "/", Authorization=wrong.encode().decode("latin-1"))[0] == 401
    assert asked(guarded, "/", Cookie=f"clar-tune-report={TOKEN}; =;;")[0] == 401


def test_the_token_opens_the_page_to_programs_and_browsers(guarded: PageServer):
    assert asked(guarded, "/", Authorization=f"Bearer {TOKEN}", Host="any.example")[0] == 200
    status, headers, text = asked(guarded, "/?token=a%20token%20of%2020%20signs!")
    assert (status, headers["Location"], text) == (303, "/", "")
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie
    assert asked(guarded, "/content", Cookie=cookie.partition(";")[0])[0] == 200


def test_loopback_needs_no_token_and_all_else_gets_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CLAR_TUNE_TOKEN", raising=False)
    for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8"):
        assert is_loopback(host) and Access.at(host).token is None
    first, second = Access.at("0.0.0.0"), Access.at("192.168.1.2")
    assert first.fresh and first.token != second.token and len(first.token or "") >= 32
    assert (first.token or "") not in repr(first)
    monkeypatch.setenv("CLAR_TUNE_TOKEN", TOKEN)
    assert Access.at("::") == Access(TOKEN)


def test_an_empty_host_is_refused_for_sockets_take_it_for_all_addresses():
    for host in ("", " "):
        with pytest.raises(ParameterError, match="--host is empty. Name an address"):
            Access.at(host)


@pytest.mark.parametrize("known", ["x", "x" * 15])
def test_a_token_that_could_be_guessed_is_refused(known: str, monkeypatch):
    monkeypatch.setenv("CLAR_TUNE_TOKEN", known)
    with pytest.raises(ParameterError, match=f"it has {len(known)} of the 16 ") as at:
        Access.at("0.0.0.0")
    assert "xx" not in str(at.value)
    assert Access.at("127.0.0.1") == Access()  # nobody else comes there
    monkeypatch.setenv("CLAR_TUNE_TOKEN", "x" * 16)
    assert Access.at("0.0.0.0") == Access("x" * 16)


def test_a_port_in_use_is_an_error_that_names_it(open_server: PageServer):
    with pytest.raises(ParameterError, match=f"port {open_server.server_port} .* in use"):
        PageServer("127.0.0.1", open_server.server_port, Access())
    with pytest.raises(ParameterError, match="cannot listen on 203.0.113.1"):
        PageServer("203.0.113.1", 0, Access())


def test_what_is_wrong_from_the_start_is_an_error():
    def read() -> Any:
        raise StoreError("no such run")

    with pytest.raises(StoreError):
        LivePage(read)


def test_a_page_is_built_again_only_when_something_changed():
    seen = [(replace(run(), studies=run().studies[:1]), True)]
    live = LivePage(lambda: seen)
    first = live.built
    live._look()
    assert live.built is first
    seen[0] = (run(), True)
    live._look()
    assert live.built.version != first.version


def test_a_store_that_cannot_be_read_leaves_the_page_as_it_was():
    told: list[str] = []
    broken = False

    def read() -> list[tuple[RunView, bool]]:
        if broken:
            raise StoreError("the disk is gone")
        return [(run(), True)]

    live = LivePage(read, told.append, period=0.01)
    first, broken = live.built, True
    with serving(live) as server:
        live.start()
        wait(lambda: live.trouble, "the trouble")
        status, headers, _ = asked(server, "/content")
        assert (status, headers["Clar-Tune-Store"]) == (200, "unreadable")
        broken = False
        wait(lambda: not live.trouble, "its end")
    live.stop()
    assert told == ["the page stays as it was: StoreError: the disk is gone"]
    assert live.built is first


def test_rates_are_trainings_per_minute():
    rates, study = Rates(), run().studies[1]
    few = replace(run(), studies=(replace(study, finals=study.finals[:4]),))
    many = replace(run(), studies=(replace(study, finals=study.finals[:9]),))
    assert rates.rate(few, 100.0) is None
    assert rates.rate(many, 130.0) == 10.0


def test_time_left_counts_finals_searches_and_studies_to_come():
    one = replace(run(), studies=run().studies[:1])
    study = one.studies[0]
    assert stored_progress(run()).trainings_left == 0
    half = replace(one, studies=(replace(study, finals=study.finals[:4]),))
    planned = study.planned
    # Six finals of the first study; all of the second, which nothing is known of.
    arms = 1 + len(run().row.planned[1].arms)
    to_come = planned.finals * arms + planned.trials * planned.repeats * PRUNED_SHARE
    assert stored_progress(half).trainings_left == pytest.approx(6 + to_come)
    going = replace(half, row=replace(half.row, state="running"))
    assert "5 trainings per minute" in progress_of(going, Liveness(True, 5.0)).speed
    assert "to come" in progress_of(going, Liveness(True)).speed
    assert "resume it" in progress_of(going, Liveness(False, 5.0)).state


def wait(moment: Callable[[], object], what: str) -> None:
    until = time.monotonic() + 60
    while not moment():
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.02)


@pytest.mark.parametrize("known", [None, TOKEN])
def test_a_fresh_token_is_told_on_stderr_and_a_known_one_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str | None
):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("clar_tune.report.access.is_loopback", lambda _: False)
    monkeypatch.setattr(PageServer, "serve_forever", interrupted)
    monkeypatch.delenv("CLAR_TUNE_TOKEN", raising=False)
    if known:
        monkeypatch.setenv("CLAR_TUNE_TOKEN", known)
    store = stored(tmp_path / "store", *simulated(graphs=("texas",), methods=("gcn",)))
    done = CliRunner().invoke(report, ["--live", "--store", store.url])
    url = done.stdout.strip()
    assert done.exit_code == 0 and url.startswith("http://127.0.0.1:")
    assert (f"{url}?token=" in done.stderr) and ("CLAR_TUNE_TOKEN" in done.stderr) == bool(known)
    assert TOKEN not in done.stdout + done.stderr
    assert bool(re.search(r"token=[\w-]{32}\b", done.stderr)) != bool(known)


def test_the_command_serves_until_it_is_interrupted(tmp_path: Path):
    store = stored(tmp_path / "store", *simulated(graphs=("texas",), methods=("gcn", "gcn+clar")))
    words = [sys.executable, "-m", "clar_tune", "report", "--live", "--store", store.url]
    environment = {k: v for k, v in os.environ.items() if k != "CLAR_TUNE_TOKEN"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:")
            connection = http.client.HTTPConnection(url.split("/")[2], timeout=30)
            connection.request("GET", "/")
            assert "gcn+clar" in connection.getresponse().read().decode()
            connection.close()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
            assert "token" not in process.stderr.read()
        finally:
            process.kill()
