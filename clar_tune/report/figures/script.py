"""Vega as one script, for pages that draw figures without a network."""

from functools import cache

import vl_convert


@cache
def vega_script() -> str:
    """Vega, Vega-Lite and Vega-Embed as the text of a plain script; it sets ``vegaEmbed``.

    The bundle is written as a module, whose names would be global in a plain script. A
    function around it keeps them apart from those of the page. It has no ``</script``.
    """
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return f'(() => {{"use strict";\n{bundle}\n}})();\n'
