"""Imports inside labkit go one way, and `import labkit` costs next to nothing."""

import ast
import importlib
import subprocess
import sys

import pytest

import labkit.ttl
from tests.project.source import LABKIT, import_table, imported_parts, modules, part_of

HEAVY = {"redis", "fakeredis", "matplotlib", "ipywidgets", "greenlet", "numpy", "IPython"}
ENTRANCES = {"__init__", "__main__"}  # may use everything, and nothing may use them


@pytest.fixture(scope="module")
def table() -> dict[str, set[str]]:
    docstring = ast.get_docstring(ast.parse((LABKIT / "__init__.py").read_text()), clean=False)
    table = import_table(docstring or "")
    assert table, "labkit/__init__.py has no table of imports in its docstring"
    return table


def test_the_table_names_exactly_the_parts_that_exist(table):
    assert set(table) == {part_of(module) for module in modules()} - ENTRANCES


def test_the_table_goes_one_way(table):
    left = dict(table)
    while free := [part for part, allowed in left.items() if not allowed & left.keys()]:
        for part in free:
            del left[part]
    assert not left, f"these import each other, directly or in a circle: {sorted(left)}"


def test_every_import_is_in_the_table(table):
    wrong = []
    for module in modules():
        part = part_of(module)
        if part in ENTRANCES:
            continue
        package = ".".join(module.parent.relative_to(LABKIT.parent).parts)
        for target in imported_parts(module.read_text("utf-8"), package):
            if target not in table[part] | {part}:
                where = module.relative_to(LABKIT.parent)
                wrong.append(f"{where} imports {target or 'labkit itself'}")
    assert not wrong, "\n".join(["not in the table in labkit/__init__.py:", *wrong])


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("import labkit.sim.trace", ["sim"]),
        ("from labkit.sim import trace", ["sim"]),
        ("from labkit import locks, explore", ["locks", "explore"]),
        ("from . import trace", ["show"]),
        ("from .widgets import Slider", ["show"]),
        ("from ..sim.trace import Trace", ["sim"]),
        ("from .. import sim", ["sim"]),
        ("def f():\n    from labkit.cases import naive", ["cases"]),
        ("import labkitchen, redis\nfrom redis import Redis", []),
    ],
)
def test_imports_are_seen_in_every_form(code, parts):
    assert list(imported_parts(code, "labkit.show")) == parts


def test_the_table_is_read_from_a_docstring():
    text = "Imports.\n\n    sim     ->\n    cases   ->  locks sim\n\n    a -> b: no line of it\n"
    assert import_table(text) == {"sim": set(), "cases": {"locks", "sim"}}


def test_import_labkit_loads_nothing_heavy():
    code = f"import labkit, sys; print(*sorted({HEAVY} & sys.modules.keys()))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_a_lazy_name_is_never_the_module_that_defines_it():
    """A module of the same name would stand in its place once it has been loaded."""
    shadowed = []
    for init in sorted(LABKIT.glob("*/__init__.py")):
        package = importlib.import_module(f"labkit.{init.parent.name}")
        modules_here = {path.stem for path in init.parent.glob("*.py")}
        shadowed += [f"{package.__name__}.{name}" for name in getattr(package, "__all__", ())
                     if name in modules_here]  # fmt: skip
    assert not shadowed


def test_an_unknown_name_of_a_package_is_an_error_that_lists_the_others():
    with pytest.raises(AttributeError, match=r"labkit\.ttl has no 'choose'\. It has: choose_ttl, "):
        labkit.ttl.choose  # noqa: B018
