"""What answers are judged by: each has ``score``."""
