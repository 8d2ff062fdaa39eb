"""Names that others may import from here; each is loaded when it is first used."""

from .access import TOKEN_VARIABLE as TOKEN_VARIABLE, Access as Access
from .blocks import Document as Document, Figure as Figure
from .builders.comparison import document_of as document_of, documents_of as documents_of
from .figures import (
    of_comparison as of_comparison,
    of_study as of_study,
    write_figures as write_figures,
)
from .figures.files import drawn as drawn
from .live import LivePage as LivePage
from .page import build_page as build_page
from .renderers import render as render
from .renderers.json import FORMAT as FORMAT, data_of as data_of
from .server import PageServer as PageServer
