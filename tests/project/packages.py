"""What pyproject.toml, the lock and a conda file ask for, and where they contradict each other.

A version that one file allows and another forbids is a contradiction. So the files must give the
same range, and the lock a version inside it: then no reader has packages that no test has seen.
"""

import re
import tomllib
from collections.abc import Iterator

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

CONDA_NAMES = {"redis": "redis-py"}  # where conda-forge has another name for a package of ours
# What only the conda file names: pip itself and what comes by itself with pip but not there.
CONDA_ONLY = {"pip", "lupa", "redis-server", "postgresql"}
FROM_EXTRAS = {"psycopg"}  # with pip a part of an extra; conda has no extras


def disagreements(pyproject: str, lock: str, conda: str) -> list[str]:
    """One line for each contradiction between the texts of the three files."""
    project = tomllib.loads(pyproject)["project"]
    return [*lock_against(project, locked(lock)), *conda_against(project, locked(lock), conda)]


def lock_against(project: dict, versions: dict[str, set[str]]) -> Iterator[str]:
    """Every requirement, those of the extras too, has an allowed version in the lock."""
    for requirement in requirements(project, *project.get("optional-dependencies", {})):
        found = versions.get(canonicalize_name(requirement.name), set())
        if not found:
            yield f"{requirement.name} is not in the lock"
        for version in sorted(found - set(requirement.specifier.filter(found))):
            yield f"the lock has {requirement.name} {version}; asked for is {requirement}"


def conda_against(project: dict, versions: dict[str, set[str]], conda: str) -> Iterator[str]:
    """The conda file has the same packages as pyproject.toml, in the same range."""
    asked = conda_packages(conda)
    needed = {CONDA_NAMES.get(r.name, r.name): r for r in requirements(project)}
    needed |= {r.name: r for r in requirements(project, *project.get("optional-dependencies", {}))
               if r.name in FROM_EXTRAS}  # fmt: skip
    for name in sorted(needed.keys() - asked.keys()):
        yield f"{name} is not in the conda file"
    for name in sorted(asked.keys() - needed.keys() - CONDA_ONLY - {"python"}):
        yield f"{name} is only in the conda file"
    for name in sorted(asked.keys() & needed.keys()):
        if asked[name] != needed[name].specifier:
            yield f"{name}: conda{asked[name]}, pyproject.toml{needed[name].specifier}"
    yield from python_against(project, asked.get("python", SpecifierSet()))
    for version in sorted(versions.get("lupa", set())):
        if "lupa" in asked and version not in asked["lupa"]:
            yield f"the lock has lupa {version}; the conda file asks for lupa{asked['lupa']}"


def python_against(project: dict, asked: SpecifierSet) -> Iterator[str]:
    """Binder listens to `=3.x` only and takes an old Python without it."""
    minor = re.fullmatch(r"==(3\.\d+)\.\*", str(asked))
    if not minor:
        yield f"the conda file must name one Python, such as python=3.12, not '{asked}'"
    elif Version(minor[1]) not in SpecifierSet(project["requires-python"]):
        yield f"the conda file has Python {minor[1]}; pyproject.toml{project['requires-python']}"


def requirements(project: dict, *extras: str) -> list[Requirement]:
    more = [line for extra in extras for line in project["optional-dependencies"][extra]]
    return [Requirement(line) for line in project["dependencies"] + more]


def locked(lock: str) -> dict[str, set[str]]:
    """Name -> versions; a name may have several, for several Pythons."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"(?m)^([\w.-]+)==([^\s;]+)", lock):
        versions.setdefault(canonicalize_name(name), set()).add(version)
    return versions


def conda_packages(conda: str) -> dict[str, SpecifierSet]:
    """Package -> range. A list of pip packages inside would escape the comparison: refused."""
    packages = {}
    for entry in yaml.safe_load(conda)["dependencies"]:
        if not isinstance(entry, str):
            raise ValueError(f"only names of conda-forge, please, not {entry}")
        name, bounds = re.fullmatch(r"([\w.-]+)\s*(.*)", entry).groups()
        # conda's `=3.12` means any 3.12; everything else is written as pip does.
        packages[name] = SpecifierSet(re.sub(r"^=(?!=)([\d.]+)$", r"==\1.*", bounds))
    return packages
