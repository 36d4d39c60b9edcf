"""The modules that the wheel has compiled are the ones that run, and no compiled one hides a source."""

import importlib
import os
import tomllib
from pathlib import Path

import pytest

import peerline
from tests.compiled import ASKED
from tests.house.tracked import ROOT

WANTED = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
MODULES = [Path(path).relative_to("src").with_suffix("") for path in WANTED["hooks"]["mypyc"]["include"]]


def test_each_module_to_be_compiled_is_there() -> None:
    assert [module for module in MODULES if not (ROOT / "src" / module).with_suffix(".py").exists()] == []


def test_nothing_compiled_stands_beside_the_sources() -> None:
    """It would run instead of them, whatever is changed there."""
    assert list((ROOT / "src").rglob("*.so")) == []


@pytest.mark.skipif(not os.environ.get(ASKED), reason="`make test-compiled` runs it")
def test_the_compiled_form_is_what_these_tests_run() -> None:
    assert not Path(peerline.__file__).is_relative_to(ROOT / "src")
    files = [str(importlib.import_module(".".join(module.parts)).__file__) for module in MODULES]
    assert [file for file in files if not file.endswith(".so")] == []
