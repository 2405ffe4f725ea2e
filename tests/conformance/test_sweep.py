"""qwp-sweep from outside: its names, its numbers, its exit codes; and that it sees a client that is wrong at one place."""
import json
import pathlib
import subprocess

import pytest

from document import ROOT

LIFE = """\
claim: It holds.
cites: [P121-27]
kills: [a-mutant]
worlds: [sim]
client:
  config: ws::addr=${server};auto_flush_rows=off;auto_flush_interval=off;initial_connect_retry=on;%s
  steps:
    - publish: {rows: 1, schema: tiny, flush: each}
    - drain: {within: 5s}
server:
  - {connection: 1, ack: %s}
expect:
  loop.sent: 1
"""
PATIENT = "reconnect_max_duration_millis=2000;reconnect_max_backoff_millis=20;reconnect_initial_backoff_millis=1;"


@pytest.fixture
def sweep(request, tmp_path):
    program = pathlib.Path(request.config.getoption("--build")).resolve() / "bin" / "qwp-sweep"

    def run(*args):
        return subprocess.run([str(program), *map(str, args)], cwd=ROOT, capture_output=True, text=True)

    run.folder = tmp_path
    return run


def write(folder, config=PATIENT, ack="each"):
    path = folder / "small.yaml"
    path.write_text(LIFE % (config, ack))
    return path


def test_every_place_of_a_small_life_is_run_once(sweep):
    path, result = write(sweep.folder), sweep.folder / "result.json"
    listed = sweep("--list", path).stdout.splitlines()
    done = sweep("-q", "--json", result, path)
    assert done.returncode == 0, done.stdout
    found = json.loads(result.read_text())
    assert found["points"] == len(listed) > 3000
    assert found["failures"] == found["unfired"] == found["spent"] == 0
    assert len(set(listed)) == len(listed)
    assert sum(points for points, failed in found["lives"][0]["kinds"].values()) == len(listed)


def test_the_reference_lives_have_eleven_names_and_enough_places(sweep):
    done = sweep("--list")
    lives = {line.split()[0] for line in done.stdout.splitlines()}
    assert len(lives) == 11
    assert len(done.stdout.splitlines()) >= 200_000


def test_a_stride_takes_its_part_and_all_calls_that_fail_once(sweep):
    path = write(sweep.folder)
    every, some = sweep("--list", path).stdout.splitlines(), sweep("--list", "--stride", 8, path).stdout.splitlines()
    once = [p for p in every if ("call/" in p or "alloc/" in p) and not p.endswith("/ever")]
    assert set(once) <= set(some) < set(every)
    assert len(some) < len(every) / 4
    assert sweep("--list", "--stride", 8, "--seed", 2, path).stdout.splitlines() != some


def test_one_place_is_repeated_by_its_name_with_its_journal(sweep):
    done = sweep("--life", "small", "--point", "send/1/d20/EPIPE", "--journal", "-", write(sweep.folder))
    assert done.returncode == 0 and done.stderr == "ok small at send/1/d20/EPIPE\n"
    sends = [json.loads(line) for line in done.stdout.splitlines() if '"client.send"' in line]
    assert {"conn": 1, "result": -32} in [{"conn": s["conn"], "result": s["result"]} for s in sends]


def test_a_client_that_gives_up_at_one_place_is_seen_there(sweep):
    """Its first connect may fail for 1 ms only: a broken upgrade ends it, where a patient one tries again."""
    path = write(sweep.folder, PATIENT.replace("=2000", "=1"))
    done = sweep("-q", "--show", 1, path)
    assert done.returncode == 1
    assert "FAIL " in done.stdout and "create: QWP_CONNECT" in done.stdout
    command = next(line for line in done.stdout.splitlines() if line.startswith("FAIL ")).split("--life ")[1].split()
    again = sweep("--life", command[0], "--point", command[2], path)
    assert again.returncode == 1 and again.stdout.startswith(f"FAIL small at {command[2]}: create: QWP_CONNECT")


def test_a_place_that_is_not_met_is_red(sweep):
    done = sweep("--life", "small", "--point", "send/1/d9999/rst", write(sweep.folder))
    assert (done.returncode, done.stdout) == (
        1, "UNFIRED small at send/1/d9999/rst: the life never came to this place; --list tells those that it has\n")


def test_a_life_that_is_wrong_by_itself_is_told_apart(sweep):
    done = sweep("-q", write(sweep.folder, ack="hold"))
    assert done.returncode == 1
    assert "small.yaml, with no fault at all: drain: acknowledged up to FSN -1 of 0" in done.stdout


@pytest.mark.parametrize("args, code, words", [
    (["--life", "nobody"], 2, "there is no life nobody"),
    (["--point", "send/1/u1/rst"], 2, "--point wants one --life"),
    (["--life", "one-frame", "--point", "send/1/u1/what"], 2, "no place has the name send/1/u1/what"),
    (["--journal", "x"], 2, "--journal wants --point"),
    (["--stride", "0"], 2, "--stride: '0' is not a number from 1 to 1000000"),
    (["--nonsense"], 2, "--help"),
    (["no-such-folder"], 2, "no-such-folder"),
    (["scenarios/batch"], 2, "scenarios/batch"),
])
def test_usage_is_told(sweep, args, code, words):
    done = sweep(*args)
    assert done.returncode == code
    assert words in done.stderr


def test_help_names_each_place(sweep):
    done = sweep("--help")
    assert done.returncode == 0
    for word in ("send/N/uB/F", "recv/N/dB/F", "server/N/B/F", "call/NAME/K/F", "alloc/K"):
        assert word in done.stdout
