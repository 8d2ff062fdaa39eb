"""Names that others may import from here; each is loaded when it is first used."""

from .access import TOKEN_VARIABLE as TOKEN_VARIABLE, Access as Access
from .figures import (
    Figure as Figure,
    of_comparison as of_comparison,
    of_study as of_study,
    write_figures as write_figures,
)
from .figures.files import drawn as drawn
from .formats import FORMATS as FORMATS, table as table
from .formats.as_json import FORMAT as FORMAT, data_of as data_of
from .live import LivePage as LivePage
from .page import build_page as build_page
from .server import PageServer as PageServer
