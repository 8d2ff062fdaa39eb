"""Names of the package; each is loaded when it is first used: the command line waits for none."""

from .api import extend as extend, resume as resume, run as run
from .models import CLAR as CLAR, NL as NL, MadReg as MadReg, PReg as PReg
from .version import __version__ as __version__
