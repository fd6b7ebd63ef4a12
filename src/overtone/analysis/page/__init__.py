"""Pages of HTML that need nothing else: their elements, tables and figures."""
