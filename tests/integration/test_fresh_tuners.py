"""Runs that go from one Tuner of Ray Tune to the next."""

from support.commands import FRESH_TUNERS, ONE, SPACE, Place, assert_exact, comparable


def test_a_run_with_many_tuners_is_the_run_with_one(tmp_path):
    usual, fresh = Place(tmp_path / "usual", SPACE), Place(tmp_path / "fresh", SPACE)
    fresh.program = FRESH_TUNERS
    for place in (usual, fresh):
        done = place.run("run", "--space", "space.yaml", "--name", "it", "--quiet", *ONE)
        assert (done.code, done.err) == (0, "")
        assert place.store.find("it").row.state == "finished"
        assert_exact(place, "it", trials=9, repeats=3, finals=3)
    for rows in ("trials", "repeats", "finals"):
        assert comparable(getattr(usual, rows)("it")) == comparable(getattr(fresh, rows)("it"))
