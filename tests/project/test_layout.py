"""What lies where, how large it is, and what no file may contain."""

import pytest

from tests.project.source import (
    LABKIT,
    ROOT,
    lines_of_code,
    long_functions,
    modules,
    part_of,
    project_files,
)

NEEDED = {"notebooks", "labkit", "tests", "binder", "environment.yml", "README.md"}
ALLOWED = NEEDED | {
    *(".ci", ".github", ".gitattributes", ".gitignore", "benchmarks", "container"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "conftest.py", "lab.py"),
    *("pyproject.toml", "requirements.lock"),
}
HOSTS = ("pypi" + ".org", "python" + "hosted.org", "registry." + "npmjs", "deb." + "debian.org")
MODULE_LINES, FUNCTION_LINES = 300, 40
# Lines of code, for a part of labkit. sim and locks are counted together: an afternoon of reading.
CORE, CORE_LINES, PART_LINES = {"sim", "locks"}, 3_700, 800
CASES = (
    *("acquiring", "attempts", "clocks", "database", "entering", "errors", "fencing", "helpers"),
    *("leases", "losing", "releasing", "renewing", "scope", "units"),
)
# Modules that hold texts, rules, questions or cases.
DATA = {
    *(f"cases/{name}.py" for name in CASES),
    *(f"decision/{name}.py" for name in ("designs", "questions", "rules", "scenarios")),
    *(f"decision/texts/{name}.py" for name in ("en", "en_designs", "en_questions", "en_results")),
    "decision/texts/en_scenarios.py",
}
# The decision is more than twice as large as planned: it also holds its page, its terminal
# dialogue, its evidence, what a design costs, and what is open or cannot be had. Servers are real
# ones in many ways: started, compared move by move, raced, and with processes that are stopped.
LARGER = {"decision": 2_230, "servers": 960}


def lines_of(modules_to_count) -> int:
    return sum(
        len(lines_of_code(module.read_text("utf-8")))
        for module in modules_to_count
        if module.relative_to(LABKIT).as_posix() not in DATA
    )


def test_the_top_level_holds_what_it_should_and_no_more():
    top = {path.relative_to(ROOT).parts[0] for path in project_files()}
    assert top - ALLOWED == set(), "new at the top level: put it into a folder, or allow it here"
    assert NEEDED - top == set(), "missing at the top level"


def test_no_file_names_a_package_registry():
    files = {path: path.read_bytes().decode("utf-8", "replace") for path in project_files()}
    named = [f"{path}: {host}" for path, text in files.items() for host in HOSTS if host in text]
    assert not named


def test_no_file_has_windows_line_ends():
    crlf = [p for p in project_files() if p.suffix != ".png" and b"\r\n" in p.read_bytes()]
    assert not crlf


def test_modules_are_short():
    long = {module: lines_of([module]) for module in modules()}  # 0 for data
    assert {m: n for m, n in long.items() if n > MODULE_LINES} == {}


@pytest.mark.parametrize("part", sorted({part_of(m) for m in modules()} - CORE))
def test_each_part_is_small(part):
    most = LARGER.get(part, PART_LINES)
    assert lines_of(m for m in modules() if part_of(m) == part) <= most


def test_the_machine_and_the_locks_are_small_together():
    assert 0 < lines_of(m for m in modules() if part_of(m) in CORE) <= CORE_LINES


def test_modules_that_count_as_data_exist():
    assert {name for name in DATA if not (LABKIT / name).is_file()} == set()


def test_functions_are_short():
    long = [
        f"{module.relative_to(ROOT)}: {function}"
        for module in [*modules(), ROOT / "lab.py", ROOT / "conftest.py"]
        for function in long_functions(module.read_text("utf-8"), FUNCTION_LINES)
    ]
    assert not long


def test_explanations_do_not_count_as_code():
    code = (
        '"""Doc."""\n\n# why\nx = (\n    1\n)\ndef f():\n    """Doc\n    more."""\n    return x\n'
    )
    assert len(lines_of_code(code)) == 5


def test_a_long_function_is_seen_wherever_it_is():
    code = "class A:\n    async def f(self):\n        x = 1\n        return x\ndef g():\n    pass"
    assert list(long_functions(code, most=2)) == ["f (3)"]
