from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.parts import Parts


@pytest.fixture(params=["file", "memory"])
def hub(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Parts]:
    parts = Parts(tmp_path if request.param == "file" else None)
    yield parts
    parts.connection.close()
