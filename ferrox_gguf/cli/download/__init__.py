"""Getting a model before there is a server: from a repository, from an address, or from the cache of either.

It lives in `cli/` because it is part of reading the command line: what comes out is a path, and no room below ever
touches the network. The cache is the one that other tools share, so a model they fetched is not fetched again.
"""

from ferrox_gguf.cli.download.fetch import located

__all__ = ["located"]
