"""How often the statistics of compare are wrong, counted where the truth is known.

``python -m benchmarks.null_check`` prints a table for each part; each part is a file.
"""

import os

# Small matrices: several threads of BLAS would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
