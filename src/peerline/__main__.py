"""`python -m peerline` is `peerline`."""

from peerline.cli.hot import peerline

peerline()
