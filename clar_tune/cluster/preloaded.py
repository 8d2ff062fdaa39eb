"""What a worker of a private cluster loads while the driver still gets ready."""

from clar_tune.cluster.worker import Worker as Worker
from clar_tune.training import warm_up

warm_up()
