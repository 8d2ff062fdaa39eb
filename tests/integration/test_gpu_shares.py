"""Shares of GPUs: logical ones on this machine, and a stand-in for what torch is asked."""

from collections import Counter

from support.paced_package import SPACE, workers, write_package
from support.ray_nodes import Member, ray_cluster


def test_eight_trials_at_once_share_two_devices(tmp_path):
    notes = tmp_path / "notes"
    with ray_cluster(tmp_path / "cluster") as cluster:
        place = Member(tmp_path / "place", SPACE, cluster)
        write_package(place.folder, notes, 600)
        cluster.start_head("--num-cpus=8", "--num-gpus=2", f"--memory={64 * 2**30}")
        words = ("--gpus-per-trial", "0.25", "--name", "it", "--address", cluster.address)
        with place.started("run", "--space", "space.yaml", *words) as going:
            going.wait_for(lambda: len(workers(notes)) == 8, "eight trials")
            devices = Counter(worker["devices"] for worker in workers(notes))
            at_once = [row["state"] for row in place.trials("it")]
            going.process.kill()
            going.process.wait()
    assert devices == {"0": 4, "1": 4}
    assert at_once == ["running"] * 8
