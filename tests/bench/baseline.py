"""A second build of the same sources with one mutant applied: the behaviour of before, to be run beside the new one."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["CMakeLists.txt", "client", "mockserver", "faults", "scenarios", "tests"]


def run(*command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def build_baseline(work, mutant, target):
    """A copy of the sources below `work` with tests/mutants/MUTANT.patch, built beside it; returns the program."""
    source, build = work / "source", work / "build"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    run("patch", "-p1", "-s", "-f", "-F0", input=(ROOT / "tests" / "mutants" / f"{mutant}.patch").read_text(), cwd=source)
    run("cmake", "-S", source, "-B", build, "-G", "Ninja")
    run("ninja", "-C", build, target)
    return build / "bin" / target
