"""``run``, ``resume`` and ``extend`` as a program calls them, with workers that only pretend."""

import signal
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest
from support.simulation import pretend, work

from clar_tune import api
from clar_tune.cluster import Launch, driver, gpu_devices
from clar_tune.device_check import DeviceFacts, Finding
from clar_tune.errors import ClusterError, GraphError, ParameterError, StoreError, UnknownName
from clar_tune.records import from_stored
from clar_tune.search import Failure
from clar_tune.space import Options
from clar_tune.store import Store

SPACE = """\
graphs: [csbm-homophily]
methods: [gcn, gcn+clar]
protocol: balanced-60-20-20
search: {trials: 8, repeats: 3}
finals: 2
settings: {tuned: {shared: {hidden: 8}, regularizers: {clar: {alpha: {low: 0.1, high: 1}}}}}
"""
HANDLED = (signal.SIGINT, signal.SIGTERM)


A100 = DeviceFacts(name="A100", driver="570.1", memory=2**34, context=2**29, torch="2.13")
TESTED = Finding(check="numbers", ok=True, found="2 methods")


class Place:
    """A space, a store, and what pretended workers do."""

    def __init__(self, folder):
        self.space, self.url = str(folder / "mine.yaml"), folder / "store"
        (folder / "mine.yaml").write_text(SPACE)
        self.train, self.handlers, self.resources = pretend, [], []
        self.seen = {}  # devices that torch sees on its machines

    def search(self, scheduler, writer, graphs, capacity, scratch, view, watch):
        self.handlers.append([signal.getsignal(number) for number in HANDLED])
        self.resources.append(capacity.resources)
        work(scheduler, self.train)
        view.close(scheduler)

    def run(self, **given):
        return api.run(self.space, store=self.url, **{"name": "it", **given})

    @property
    def stored(self):
        return Store.open(self.url).find("it")

    def counts(self):
        store = Store.open(self.url)
        return len(store.trials("it")), len(store.finals("it"))


@pytest.fixture
def place(tmp_path, monkeypatch):
    from clar_tune.cluster.connection import Node

    @contextmanager
    def cluster(address, *modules):
        yield [Node(4, 1)]

    there = Place(tmp_path)
    monkeypatch.setattr(driver, "_cluster", cluster)
    monkeypatch.setattr(gpu_devices, "_seen", lambda nodes: there.seen)
    monkeypatch.setattr(driver, "_search", there.search)
    monkeypatch.setattr("ray.put", lambda graph: graph)
    return there


class Spectator:
    """An observer that keeps what it was told, and may do something to the run."""

    def __init__(self, act=lambda limits: None):
        self.told, self.said, self.states, self._act = [], [], [], act

    @contextmanager
    def __call__(self, name, store, limits):
        self.told.append((name, store.url))
        self._act(limits)
        yield View(self)
        self.told.append("left")


class View:
    def __init__(self, spectator):
        self._of = spectator

    def __call__(self, scheduler):
        pass

    def close(self, scheduler):
        self._of.states.append(scheduler.state)

    def say(self, text):
        self._of.said.append(text)

    def note(self, text):
        pass


def test_a_run_is_searched_confirmed_and_stored_without_a_word(place, capfd):
    outcome = place.run()
    assert (outcome.name, outcome.state, outcome.worked, outcome.lacks) == (
        "it",
        "finished",
        True,
        {},
    )
    assert outcome.store.url == str(place.url)
    assert place.stored.row.state == "finished"
    assert place.counts() == (1 + 8, 2 + 5 * 2)
    assert capfd.readouterr() == ("", "")


def test_a_run_without_a_name_is_named_after_its_space(place):
    outcome = place.run(name=None)
    assert outcome.name.startswith("mine-")
    assert [run.name for run in outcome.store.runs()] == [outcome.name]


def test_options_and_resources_are_those_of_the_call(place):
    place.run(options=Options(trials=5, methods=("gcn+clar",)), launch=Launch(cpus=2, gpus=0.5))
    options = from_stored(Options, place.stored.row.options)
    given = {"threads": 2, "cpus": 2.0, "gpus": 0.5, "device": "cpu"}
    assert options == Options(trials=5, methods=("gcn+clar",), **given)
    assert place.counts() == (5, 4 * 2)  # no plain winner to be crossed with


def test_a_run_keeps_the_device_that_it_began_on(place, monkeypatch):
    monkeypatch.setattr(gpu_devices, "reported", lambda facts: None)
    monkeypatch.setattr(gpu_devices, "_tested", lambda *given: [TESTED])
    place.seen = {"": [A100]}
    place.run(launch=Launch(gpus=0.5, time_budget=0.0))
    assert place.stored.row.options["device"] == "cuda"
    place.seen = {}
    with pytest.raises(ClusterError, match="the run trains on GPUs, and torch sees none"):
        api.resume("it", store=place.url)
    with pytest.raises(ParameterError, match="trials would get none"):
        api.resume("it", store=place.url, launch=Launch(gpus=0.0))
    place.seen = {"": [A100]}
    api.resume("it", store=place.url)
    store = Store.open(place.url)
    keys = {row.key for row in store.finals("it")}
    assert len(keys) == len(store.finals("it")) > 0
    place.seen = {}
    place.run(name="other", launch=Launch(gpus=0.5, max_concurrent=1))
    assert keys.isdisjoint(row.key for row in store.finals("other"))
    place.run(name="third", launch=Launch(max_concurrent=1))
    plain = {row.key for row in store.finals("third")}
    assert plain == {row.key for row in store.finals("other")}  # both train on processors


def test_a_run_that_began_on_processors_stays_there(place):
    place.run(launch=Launch(time_budget=0.0))
    place.seen = {"": [A100]}
    api.resume("it", store=place.url, launch=Launch(gpus=0.5))
    assert place.stored.row.options["device"] == "cpu"


def test_a_time_budget_pauses_and_resume_finishes(place):
    assert place.run(launch=Launch(time_budget=0.0)).state == "paused"
    assert place.counts() == (0, 0)
    outcome = api.resume("it", store=place.url)
    assert (outcome.state, outcome.worked) == ("finished", True)
    assert place.counts() == (9, 12)


def test_nothing_is_left_of_a_finished_run(place):
    place.run()
    place.search = None
    outcome = api.resume("latest", store=place.url)
    assert (outcome.name, outcome.state, outcome.worked) == ("it", "finished", False)


def test_an_observer_sees_the_run_and_may_drain_it(place):
    def drain(limits):
        limits.draining = True

    spectator = Spectator(drain)
    outcome = place.run(observe=spectator)
    assert outcome.state == place.stored.row.state == "interrupted"
    assert spectator.told == [("it", str(place.url)), "left"]
    assert spectator.states == ["interrupted"]
    assert api.resume("it", store=place.url).state == "finished"


def test_extending_adds_trials_and_finals_and_keeps_the_start_up(place):
    place.run()
    before = [row.params for row in Store.open(place.url).trials("it")]
    outcome = api.extend("it", store=place.url, trials=4, finals=1)
    assert outcome.state == "finished"
    assert place.counts()[0] == 1 + 12
    after = [row.params for row in Store.open(place.url).trials("it")]
    assert len(after) > len(before) and all(params in after for params in before)
    row = place.stored.row
    options = from_stored(Options, row.options)
    assert (options.trials, options.finals, options.first_trials) == (12, 3, 8)
    assert row.budget["trials"] == 12
    api.extend("it", store=place.url, finals=1)
    options = from_stored(Options, place.stored.row.options)
    assert (options.trials, options.finals, options.first_trials) == (12, 4, 8)


def test_arms_are_added_to_a_run_that_was_made_without(place):
    place.run(options=Options(ablation=False))
    assert place.counts() == (9, 4)
    assert api.extend("it", store=place.url, ablation=True).state == "finished"
    assert place.counts() == (9, 2 + 5 * 2)
    assert place.stored.row.looks == 0  # it is the first look at what they tell
    with pytest.raises(ParameterError, match="its winners have all arms"):
        api.extend("it", store=place.url, ablation=True)


def test_more_finals_are_another_look(place):
    place.run()
    api.extend("it", store=place.url, trials=1)
    assert place.stored.row.looks == 0
    for looks in (1, 2):
        api.extend("it", store=place.url, finals=1)
        assert place.stored.row.looks == looks
    assert api.resume("it", store=place.url).state == "finished"
    assert place.stored.row.looks == 2


def test_an_incomplete_run_tells_which_studies_lack_what(place):
    def fail(job, index):
        clar = job.spec.method == "gcn+clar"
        if clar or (job.purpose == "final" and index == 1):
            return Failure(index=index, kind="error", text="it broke")
        return pretend(job, index)

    place.train = fail
    outcome = place.run()
    assert outcome.state == place.stored.row.state == "incomplete"
    assert outcome.lacks == {
        "csbm-homophily gcn": "1 of 2 finals failed",
        "csbm-homophily gcn+clar": "no winner, all 8 trials failed",
    }


def test_a_run_that_goes_on_gets_what_its_trials_had_unless_told_otherwise(place):
    place.run(launch=Launch(cpus=2, gpus=0.5, time_budget=0.0))
    for given in ({}, {"cpus": 4}, {"gpus": 0.25}):
        api.resume("it", store=place.url, launch=Launch(**given, time_budget=0.0))
    had = [(one.cpus, one.gpus) for one in place.resources]
    assert had == [(2, 0.5), (2, 0.5), (4, 0.5), (2, 0.25)]


def test_rows_that_were_never_flushed_are_said(place, monkeypatch):
    place.run(launch=Launch(time_budget=0.0))
    reopen = Store.reopen

    def reopened(store, name):
        writer = reopen(store, name)
        writer.lost = 3
        return writer

    monkeypatch.setattr(Store, "reopen", reopened)
    spectator = Spectator()
    api.resume("it", store=place.url, observe=spectator)
    assert spectator.said == [
        "at least 3 rows were never flushed by the last driver: their trainings are done again"
    ]


def test_signals_are_left_alone_in_the_main_thread(place):
    before = [signal.getsignal(number) for number in HANDLED]
    place.run()
    assert place.handlers == [before]
    assert [signal.getsignal(number) for number in HANDLED] == before


def test_runs_are_driven_in_other_threads_too(place):
    outcomes = []

    def drive():
        outcomes.append(place.run(launch=Launch(time_budget=0.0)))
        outcomes.append(api.resume("it", store=place.url))
        outcomes.append(api.extend("it", store=place.url, finals=1))

    thread = threading.Thread(target=drive)
    thread.start()
    thread.join()
    assert [outcome.state for outcome in outcomes] == ["paused", "finished", "finished"]


def test_what_cannot_be_begun_is_refused_before_anything_is_stored(place):
    for wrong, error in (
        ({"options": Options(methods=("gnc",))}, UnknownName),
        ({"options": Options(trials=0)}, ParameterError),
        ({"launch": Launch(cpus=1.5)}, ParameterError),
        ({"name": "No Name"}, StoreError),
    ):
        with pytest.raises(error):
            place.run(**wrong)
    assert not place.url.exists()


def test_a_name_is_given_once(place):
    place.run()
    with pytest.raises(StoreError, match="it"):
        place.run()


def test_what_cannot_go_on_is_refused_and_the_run_stays_as_it_is(place):
    place.run(launch=Launch(cpus=2, time_budget=0.0))
    with pytest.raises(UnknownName):
        api.resume("nothing", store=place.url)
    with pytest.raises(ParameterError, match="the run trains with 2 threads"):
        api.resume("it", store=place.url, launch=Launch(cpus=1))
    with pytest.raises(ParameterError, match="say what to add"):
        api.extend("it", store=place.url)
    with pytest.raises(ParameterError, match="trials: a whole number from 0 on"):
        api.extend("it", store=place.url, trials=-1, finals=1)
    assert place.stored.row.state == "paused"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"numbers": 0}, StoreError),
        ({"graph_hashes": {"csbm-homophily": "other"}}, GraphError),
        ({"options": {"unheard": 1}}, StoreError),
    ],
)
def test_rows_that_could_not_be_compared_are_not_added(place, change, error, monkeypatch):
    place.run(launch=Launch(time_budget=0.0))
    stored = place.stored
    other = replace(stored, row=replace(stored.row, **change))
    monkeypatch.setattr(Store, "find", lambda store, text: other)
    for go_on in (api.resume, lambda *a, **b: api.extend(*a, **b, trials=1)):
        with pytest.raises(error):
            go_on("it", store=place.url)
