"""`python -m tests.wire.fuzz CORPUS -runs=10000000`: see `fuzzing`; the options are libFuzzer's.

It needs atheris (`pip install atheris`; Linux), and ends with the first input that is not as promised or takes long.
"""

import sys
import time
from importlib import import_module
from pathlib import Path

atheris = import_module("atheris")  # a tool of whoever fuzzes, and none of the tests': they must run without it

with atheris.instrument_imports(include=["peerline"]):
    from tests.wire import fuzzing


def try_in_time(data: bytes) -> None:
    """At most a second of CPU, however busy the machine is."""
    began = time.process_time()
    fuzzing.try_file(data)
    assert time.process_time() - began < 1.0


if __name__ == "__main__":
    fuzzing.seeds(Path(sys.argv[1]))
    atheris.Setup(sys.argv, try_in_time)
    atheris.Fuzz()
