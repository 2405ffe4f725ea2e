"""Collects the scenarios: one test per scenario and world, named as the runner names them.

The runner executes and judges (qwp-scenario); pytest collects, names, selects and parallelises. No verdict is
computed here.
"""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_addoption(parser):
    parser.addoption("--build", default=str(ROOT / "build"), help="build folder of the runner (default: build)")
    parser.addoption("--scenarios", default="scenarios", help="file or folder of scenarios (default: scenarios)")
    parser.addoption("--client", default=None, help="command of another client to test in the live world")


class Runner:
    """The built runner; `run` gives its exit code and output."""

    def __init__(self, config):
        self.program = pathlib.Path(config.getoption("--build")) / "bin" / "qwp-scenario"
        self.client = config.getoption("--client")
        if not os.access(self.program, os.X_OK):
            raise pytest.UsageError(f"{self.program} is missing: build first (ci/demo, or cmake and ninja)")

    def run(self, *args):
        return subprocess.run([str(self.program), *args], cwd=ROOT, capture_output=True, text=True)

    def listed(self, where):
        done = self.run("--list", where)
        if done.returncode not in (0, 4):
            raise pytest.UsageError(done.stderr.strip())
        return [line.split(" ", 1) for line in done.stdout.splitlines()]


@pytest.fixture(scope="session")
def runner(request):
    return Runner(request.config)


def pytest_generate_tests(metafunc):
    if "scenario" not in metafunc.fixturenames:
        return
    found = Runner(metafunc.config).listed(metafunc.config.getoption("--scenarios"))
    metafunc.parametrize("world,scenario", found, ids=[f"{world}:{name}" for world, name in found])
