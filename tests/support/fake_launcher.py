"""A launcher's configuration whose machines are processes on this one."""


def launcher(address="", **types):
    """A launcher's configuration whose machines are processes on this one."""
    plain = ("disable_node_updaters", "disable_launch_config_check", "launch_multiple")
    return {
        "cluster_name": "fake",
        "max_workers": 8,
        "provider": {
            "type": "fake_multinode",
            "gcs_address": address,
            "worker_liveness_check": False,
            **dict.fromkeys(plain, True),
        },
        "available_node_types": {"ray.head.default": machine(0, 0), **types},
        "head_node_type": "ray.head.default",
        "idle_timeout_minutes": 5,
        "upscaling_speed": 1,
        "auth": {},
        "docker": {},
        "initialization_commands": [],
        "setup_commands": [],
        "head_setup_commands": [],
        "worker_setup_commands": [],
        "head_start_ray_commands": [],
        "worker_start_ray_commands": [],
        "file_mounts": {},
        "cluster_synced_files": [],
        "file_mounts_sync_continuously": False,
        "rsync_exclude": [],
        "rsync_filter": [],
    }


def machine(cpus, most, **more):
    return {"resources": {"CPU": cpus, **more}, "node_config": {}, "max_workers": most}
