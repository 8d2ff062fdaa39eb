"""Trials that wait for machines which an autoscaler starts; the autoscaler is Ray's own."""

import yaml
from support.commands import assert_exact
from support.fake_launcher import launcher, machine
from support.paced_package import SPACE, set_pace, workers, write_package
from support.ray_nodes import Member, ray_cluster


def test_a_run_from_zero_machines_waits_for_those_it_makes_the_autoscaler_start(tmp_path):
    config, notes = tmp_path / "cluster.yaml", tmp_path / "notes"
    with ray_cluster(tmp_path / "cluster") as cluster:
        content = launcher(cluster.address, small=machine(1, 2))
        config.write_text(yaml.safe_dump(content))
        place = Member(tmp_path / "place", SPACE, cluster)
        write_package(place.folder, notes, 0.5)
        environment = {"RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1"}
        cluster.start_head("--num-cpus=0", f"--autoscaling-config={config}", **environment)
        words = ("run", "--space", "space.yaml", "--name", "it", "--address", cluster.address)
        refused = place.run(*words, "--cpus-per-trial", "2")
        with place.started(*words) as going:
            going.wait_for(lambda: "waiting for machines" in going.err.read_text(), "the wait")
            going.wait_for(
                lambda: len({w["node"] for w in workers(notes)}) == 2, "trials on two machines"
            )
            set_pace(notes, 0.0)
            done = going.end()
    assert refused.code == 1
    assert "with --cpus-per-trial 2 and --gpus-per-trial 0" in refused.err
    assert "fits on no machine of the cluster" in refused.err
    assert "its autoscaler may add: 2 × 1 CPUs and 0 GPUs" in refused.err
    assert done.code == 0, done.err
    assert_exact(place, "it", trials=8, repeats=3, finals=3)
