"""A real repository between the machines, as the network's tests have it."""

from tests.network.conftest import remote

__all__ = ["remote"]
