"""What runs elsewhere keeps its promises: platforms, commands, schedule, rights."""

import re
from pathlib import Path

import pytest
import yaml

import lab
from tests.project.source import ROOT
from tests.project.test_images import REPO2DOCKER

FOLDER = ROOT / ".github" / "workflows"
NBVAL = "pytest --nbval notebooks"


def workflow(name: str) -> dict:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


def triggers(name: str) -> dict:
    return workflow(name)[True]  # YAML reads the word `on` as true


def commands(job: dict) -> list[str]:
    return [step["run"].strip() for step in job["steps"] if "run" in step]


TEST, IMAGES = workflow("test.yml"), workflow("images.yml")
EVERY_JOB = [
    pytest.param(job, id=f"{path.stem}-{name}")
    for path in sorted(FOLDER.glob("*.yml"))
    for name, job in workflow(path.name)["jobs"].items()
]


def test_every_change_is_tested_also_when_it_is_only_proposed():
    assert triggers("test.yml") == {"push": {"branches": ["main"]}, "pull_request": None}


def test_linux_and_macos_run_everything_on_each_supported_python():
    job = TEST["jobs"]["linux-and-macos"]
    matrix = job["strategy"]["matrix"]
    assert [name.split("-")[0] for name in matrix["os"]] == ["ubuntu", "macos"]
    assert set(matrix["python"]) == {"{}.{}".format(*version) for version in lab.SUPPORTED}
    assert job["runs-on"] == "${{ matrix.os }}"
    assert "python3 lab.py test" in commands(job)


def test_windows_runs_everything_the_way_readers_there_type_it():
    job = TEST["jobs"]["windows"]
    assert job["runs-on"].startswith("windows-")
    assert "py lab.py test" in commands(job)


@pytest.mark.parametrize("job", TEST["jobs"].values(), ids=TEST["jobs"])
def test_each_job_has_a_step_that_is_exactly_what_readers_type(job):
    """It finds pytest because a step before it puts the environment's programs on PATH."""
    run = commands(job)
    on_path = [number for number, line in enumerate(run) if "GITHUB_PATH" in line]
    assert run.count(NBVAL) == 1
    assert on_path
    assert on_path[0] < run.index(NBVAL)


def test_delex_is_verified_on_a_server_that_has_it():
    job = TEST["jobs"]["redis-with-delex"]
    (service,) = job["services"].values()
    major, minor = re.fullmatch(r"redis:(\d+)\.(\d+)", service["image"]).groups()
    assert (int(major), int(minor)) >= (8, 4)
    port = service["ports"][0].split(":")[0]
    assert job["env"]["LABKIT_REDIS_URL"].startswith(f"redis://localhost:{port}/")
    (asked,) = (line for line in commands(job) if line.startswith("python3 lab.py test "))
    test_file = Path(asked.split()[-1])
    assert "DELEX" in (ROOT / test_file).read_text("utf-8")
    assert not test_file.name.startswith("test_"), "elsewhere it would be a gap"


def test_once_a_week_the_images_are_really_built_and_the_notebooks_run_inside():
    (entry,) = triggers("images.yml")["schedule"]
    _minute, _hour, day, month, weekday = entry["cron"].split()
    assert (day, month) == ("*", "*")
    assert re.fullmatch("[0-6]", weekday)
    binder = commands(IMAGES["jobs"]["binder"])
    assert f"pip install {REPO2DOCKER}" in binder
    assert "repo2docker --no-run --image-name lock-lab-binder ." in binder
    assert binder[-1] == f"docker run --rm lock-lab-binder {NBVAL}"


def test_the_container_runs_the_notebooks_without_a_network():
    run = commands(IMAGES["jobs"]["container"])
    assert "docker build --file container/Containerfile --tag lock-lab ." in run
    assert run[-1] == f"docker run --rm --network none lock-lab {NBVAL}"


@pytest.mark.parametrize("job", EVERY_JOB)
def test_nothing_fails_quietly_or_runs_for_ever(job):
    assert 0 < job["timeout-minutes"] <= 60
    assert "continue-on-error" not in str(job)
    assert not any("|| true" in line or "set +e" in line for line in commands(job))


@pytest.mark.parametrize("job", EVERY_JOB)
def test_actions_are_pinned_by_major_version(job):
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"actions/[\w-]+@v\d+", name)] == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yml")), ids=lambda path: path.name)
def test_a_workflow_may_read_and_nothing_else(path):
    text = path.read_text("utf-8")
    assert workflow(path.name)["permissions"] == {"contents": "read"}
    assert text.count("permissions:") == 1, "no job may have more"
    assert "secrets." not in text
    assert "pull_request_target" not in text


def test_linux_gets_the_same_programs_there_as_here():
    """Except Chromium: Chrome is on that image already."""
    here = re.search(r"packages=\((.*?)\)", (ROOT / ".ci/run").read_text("utf-8"))[1].split()
    (install,) = (line for line in commands(TEST["jobs"]["linux-and-macos"]) if "apt-get" in line)
    there = install.replace("\\\n", " ").split("--no-install-recommends")[1].split()
    assert set(there) == set(here) - {"chromium"}
