"""The backbones: each has ``Network``."""
