"""The layers are as drawn, and modules say what they are for."""

import ast
import subprocess
import sys
from pathlib import Path

from tests.house.tracked import ROOT, modules, shown

VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc", "handler"}
# The hot command-line path reads no docstring it can do without; the limit is for a title, not for a text.
TITLE = 160


def test_nothing_imports_from_a_layer_above() -> None:
    lint = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert lint.returncode == 0, lint.stdout + lint.stderr
    assert " 0 broken" in lint.stdout


def test_every_module_says_in_its_first_line_what_it_is_for() -> None:
    silent = []
    for path in modules():
        source = path.read_text()
        if not source.strip():
            continue  # an empty __init__.py
        title = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0].split("\n")[0]
        if not 10 <= len(title) <= TITLE:
            silent.append(shown(path))
    assert silent == []


def test_packages_export_nothing_by_their_init() -> None:
    # The package itself holds its version; the migrations are a list, and the list is the package.
    allowed = {ROOT / "src" / "peerline", ROOT / "src" / "peerline" / "store" / "migrations"}
    full = [
        shown(path)
        for path in modules()
        if path.name == "__init__.py"
        and path.parent not in allowed
        and any(not isinstance(node, ast.Expr) for node in ast.parse(path.read_text()).body)
    ]
    assert full == []


def test_no_module_has_a_name_that_fits_anything() -> None:
    assert [shown(path) for path in modules() if path.stem in VAGUE] == []
