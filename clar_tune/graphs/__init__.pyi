"""Names that others may import from here; each is loaded when it is first used."""

from .catalogue import (
    NOTES as NOTES,
    base_name as base_name,
    dataset_named as dataset_named,
    known_facts as known_facts,
)
from .download import cache_folder as cache_folder, fetch as fetch
from .graph import PREPROCESSINGS as PREPROCESSINGS, Graph as Graph, preprocess as preprocess
from .loading import (
    DATASETS as DATASETS,
    facts_of as facts_of,
    load as load,
    load_raw as load_raw,
    locate as locate,
)
from .partners import Partners as Partners, partners_of as partners_of
from .spectrum import (
    FULL_SPECTRUM_NODES as FULL_SPECTRUM_NODES,
    Spectrum as Spectrum,
    laplacian as laplacian,
    spectrum_of as spectrum_of,
)
from .splits import (
    PROTOCOLS as PROTOCOLS,
    Nodes as Nodes,
    Protocol as Protocol,
    SearchNodes as SearchNodes,
    check_protocol as check_protocol,
    check_split as check_split,
    search_nodes as search_nodes,
    seed_pair as seed_pair,
    test_nodes as test_nodes,
)
from .thread_count import threads as threads
from .variants import (
    SIGNALS as SIGNALS,
    VARIANTS as VARIANTS,
    apply_variants as apply_variants,
    check_size as check_size,
    check_variant as check_variant,
    metric_of as metric_of,
    parameters_of as parameters_of,
    variant_of as variant_of,
    varied_hash as varied_hash,
)
