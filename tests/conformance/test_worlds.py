"""One journal, all worlds: a scenario goes the same way simulated, live and over TLS, and the simulated sockets are
those of a kernel."""
import collections
import json
import re
import shlex
import shutil

import pytest

from conftest import Runner
from document import GOOD, ROOT

PYTHON = "/usr/bin/python3"
TWO_CONNECTIONS = """\
claim: What a reset took is sent again.
cites: [P121-27]
kills: [some-mutant]
client:
  config: ws::addr=${server};auto_flush_interval=off;reconnect_initial_backoff_millis=1;
  steps:
    - publish: {rows: 4, schema: tiny, flush: acked}
server:
  - {connection: 1, ack: each}
  - {connection: 2, ack: each}
faults:
  - {at: client.send, connection: 1, nth: 3, do: rst}
expect:
  srv.rows.unique: 4
"""


def compared(runner, where):
    """Names of the scenarios that would be compared, by topic."""
    done = runner.run("--compare-worlds", "--list", where)
    assert done.returncode in (0, 4), done.stderr
    topics = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        place, name = line.split(" ", 1)
        assert place == "compared"
        topics[name.split("/")[1]].append(name)
    return topics


def pytest_generate_tests(metafunc):
    if "topic" in metafunc.fixturenames:
        metafunc.parametrize("topic", sorted(compared(Runner(metafunc.config), "scenarios")))


@pytest.fixture
def two_programs(bench):
    """The runner with a client beside it that a test can make lie: what runs there is the live half of a comparison."""
    folder = bench.folder / "bin"
    folder.mkdir()
    real = bench.program.with_name("qwp-send")
    bench.program = shutil.copy2(bench.program, folder / "qwp-scenario")

    def live_client(change):
        script = folder / "qwp-send"
        script.write_text(f"#!{PYTHON}\nimport json, subprocess, sys\nrequest = json.loads(sys.stdin.readline())\n"
                          f"{change}\n"
                          f"line = json.dumps(request) + '\\n'\n"
                          f"sys.exit(subprocess.run([{str(real)!r}, '--child'], input=line, text=True).returncode)\n")
        script.chmod(0o755)
        return bench
    return live_client


def compare(bench, text, *args):
    """Exit code, verdict and why of one comparison."""
    results = bench.folder / "results.jsonl"
    path = bench.write(text)
    done = bench.run("--compare-worlds", "-j", "1", "--json", results, *args, path)
    runs = [json.loads(line) for line in results.read_text().splitlines()[1:]]
    assert len(runs) == 1 and runs[0]["world"] == "compared", done.stdout + done.stderr
    return done.returncode, runs[0]["verdict"], runs[0]["why"].replace(str(path), "a.yaml")


# ---- the suite ----


def test_the_worlds_do_not_part(runner, topic):
    done = runner.run("--compare-worlds", "-q", "-j", "2", f"scenarios/{topic}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_of_several_worlds_is_left_out(runner):
    worlds = collections.Counter(name for _, name in runner.listed("scenarios"))
    wanted = {name for name, count in worlds.items() if count > 1}
    assert wanted and {name for names in compared(runner, "scenarios").values() for name in names} == wanted


# ---- a comparison can fail ----


def test_a_world_that_goes_its_own_way_is_told_with_the_first_line_of_each(two_programs):
    assert compare(two_programs(""), GOOD) == (0, "passed", "")
    code, verdict, why = compare(two_programs("request['steps'][0]['rows'] = 2"), GOOD)
    assert (code, verdict) == (1, "failed")
    assert re.fullmatch(r"a\.yaml: the worlds part: sim: connection 1: frame 2 [0-9a-f]{16} ok \| "
                        r"live: connection 1: close from peer 1000 ?", why), why


def test_a_comparison_counts_what_fired_in_each_of_its_runs(bench):
    """Simulated in three schedules, and live: the one fault of the file, four times."""
    done = bench.run("--compare-worlds", "-q", bench.write(TWO_CONNECTIONS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"1 passed, 0 failed of 1 cases; 4 faults fired, \d+ samples\n", done.stdout)


def test_where_the_worlds_may_differ_only_what_no_scheduling_can_change_is_compared(two_programs):
    later = two_programs("request['faults'][0]['nth'] = 4")
    code, verdict, why = compare(later, TWO_CONNECTIONS)
    assert (code, verdict) == (1, "failed")
    assert re.search(r"sim: connection 1: end: reset \| live: connection 1: frame 2 ", why), why
    allowed = TWO_CONNECTIONS.replace("client:", "worlds_may_differ: The reset comes when it comes.\nclient:", 1)
    assert compare(later, allowed) == (0, "passed", "")
    code, verdict, why = compare(two_programs("request['steps'][0]['rows'] = 3"), allowed)
    assert (code, verdict) == (1, "failed")
    assert re.search(r"the worlds part: sim: payload [0-9a-f]{16} \| live: ", why), why


def test_a_world_without_a_run_is_an_error_and_names_itself(two_programs):
    code, verdict, why = compare(two_programs("sys.exit(7)"), GOOD)
    assert (code, verdict) == (3, "error")
    assert why.startswith("a.yaml: live: the client ended with exit code 7"), why


def test_a_red_comparison_says_how_to_repeat_it(two_programs):
    bench = two_programs("request['steps'][0]['rows'] = 2")
    path = bench.write(GOOD)
    done = bench.run("--compare-worlds", path)
    assert f"FAIL {path.with_suffix('')} [compared]" in done.stdout
    command = re.search(r"^  repeat: +(.*)$", done.stdout, re.M).group(1)
    assert shlex.split(command)[1:] == ["--compare-worlds", str(path)]
    assert bench.run(*shlex.split(command)[1:]).returncode == 1


# ---- the option ----


@pytest.mark.parametrize("args", [["--world", "sim"], ["--client", "x"], ["--failed"]])
def test_what_does_not_go_with_it(bench, args):
    done = bench.run("--compare-worlds", *args, bench.write(GOOD))
    assert done.returncode == 2 and "--compare-worlds: " in done.stderr


def test_one_world_is_nothing_to_compare(bench):
    done = bench.run("--compare-worlds", bench.write(GOOD.replace("client:", "worlds: [sim]\nclient:", 1)))
    assert done.returncode == 4 and "no scenario that matches claims two worlds" in done.stderr


def test_the_report_of_ordinary_runs_stays_as_it_is(two_programs):
    bench = two_programs("")
    report = bench.program.parent.parent / "qwp-report.jsonl"
    assert bench.run("--compare-worlds", bench.write(GOOD)).returncode == 0 and not report.exists()
    assert bench.run("--world", "sim", bench.write(GOOD)).returncode == 0
    before = report.read_text()
    assert bench.run("--compare-worlds", bench.write(GOOD)).returncode == 0 and report.read_text() == before


# ---- the sockets ----


def test_each_line_about_simulated_sockets_names_the_live_test_that_confirms_it():
    """Both ways: a line without its test is a claim, a script without its line is not told."""
    section = (ROOT / "faults" / "README.md").read_text().split("## The simulated world")[1]
    table = re.findall(r"^\|.*\| `(\w+)` \|$", section, re.M)
    lines = [line for line in section.splitlines() if re.match(r"\| (?!what happens|---)", line)]
    assert len(table) == len(lines) == len(set(table)) > 20
    source = (ROOT / "tests" / "unit" / "sim" / "kernel_test.c").read_text()
    defined = set(re.findall(r"^static void (\w+)\(void \*\*state\) {$", source, re.M))
    run = set(re.findall(r"cmocka_unit_test\((\w+)\)", source))
    assert defined == run and run - {"bytes_flow_both_ways"} == set(table)
