"""Collects the scenarios, and gives the tests the built runner.

The runner executes and judges (qwp-scenario); pytest collects, names, selects and parallelises. No verdict is
computed here.
"""
import json
import os
import pathlib
import subprocess

import pytest

import document
from document import ROOT


def pytest_addoption(parser):
    parser.addoption("--build", default=str(ROOT / "build"), help="build folder of the runner (default: build)")
    parser.addoption("--scenarios", default="scenarios", help="file or folder of scenarios (default: scenarios)")
    parser.addoption("--client", default=None, help="command of another client to test in the live world")


class Runner:
    """The built runner; `run` gives its exit code and output."""

    def __init__(self, config):
        self.program = pathlib.Path(config.getoption("--build")).resolve() / "bin" / "qwp-scenario"
        self.client = config.getoption("--client")
        if not os.access(self.program, os.X_OK):
            raise pytest.UsageError(f"{self.program} is missing: build first (ci/demo, or cmake and ninja)")

    def run(self, *args, env=None):
        return subprocess.run([str(self.program), *map(str, args)], cwd=ROOT, capture_output=True, text=True,
                              errors="replace", env=env)

    def listed(self, where):
        done = self.run("--list", *(["--client", self.client] if self.client else []), where)
        if done.returncode not in (0, 4):
            raise pytest.UsageError(done.stderr.strip())
        return [line.split(" ", 1) for line in done.stdout.splitlines()]


class Bench(Runner):
    """The runner at work on scenarios of a test's own, in the test's own folder."""

    def __init__(self, config, folder):
        super().__init__(config)
        self.folder = folder

    def write(self, text, name="a.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def judge(self, *args, world="sim", **options):
        """Runs; gives the process's end, and one dict a run with its verdict and why."""
        results = self.folder / "results.jsonl"
        results.unlink(missing_ok=True)
        done = self.run("--world", world, "-j", "1", "--report", "/dev/null", "--json", results, *args, **options)
        lines = results.read_text().splitlines()[1:] if results.exists() else []
        return done, [json.loads(line) for line in lines]

    def only(self, text, *args, **options):
        """Judges one scenario; gives its exit code, verdict and why."""
        done, runs = self.judge(self.write(text), *args, **options)
        assert len(runs) == 1, done.stdout + done.stderr
        return done.returncode, runs[0]["verdict"], runs[0]["why"]


@pytest.fixture(scope="session")
def runner(request):
    return Runner(request.config)


@pytest.fixture
def bench(request, tmp_path):
    return Bench(request.config, tmp_path)


def pytest_generate_tests(metafunc):
    if "scenario" in metafunc.fixturenames:
        found = Runner(metafunc.config).listed(metafunc.config.getoption("--scenarios"))
        metafunc.parametrize("world,scenario", found, ids=[f"{world}:{name}" for world, name in found])
    for fixture, wanted in FILES.items():
        if fixture in metafunc.fixturenames:
            files = [path for path in scenario_files() if wanted(path)]
            names = [str(path.relative_to(ROOT / "scenarios").with_suffix("")) for path in files]
            metafunc.parametrize(fixture, files, ids=names)


def scenario_files():
    return sorted(path for path in (ROOT / "scenarios").rglob("*.yaml") if path.name != "known-gaps.yaml")


# What a test over all files asks for; a file that has no such place is not collected.
FILES = {
    "scenario_file": lambda path: True,
    "simulated_file": document.simulated,
    "faulty_file": lambda path: any(map(document.faults, document.simulated(path))),
    "scripted_file": lambda path: any(map(document.actions, document.simulated(path))),
}
