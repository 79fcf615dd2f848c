"""The static site: what fits, who leads, methods, data sets and papers, without a server."""
