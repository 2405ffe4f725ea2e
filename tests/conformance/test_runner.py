"""The program qwp-scenario as a person and a CI server see it: exit codes, options, reports, journals."""
import json
import os
import pty
import re
import shlex
import subprocess
import xml.etree.ElementTree

import pytest

from document import GOOD, ROOT

RED = GOOD.replace("srv.frames: 3", "srv.frames: 4")
ONLY_TLS = GOOD.replace("client:", "worlds: [tls]\nclient:", 1)
DISPUTED = GOOD.replace("client:", "disputed: Two texts disagree.\nclient:", 1)
WITH_FAULT = GOOD.replace("expect:", "faults:\n  - {at: client.send, nth: 9, do: EPIPE}\nexpect:")
CUT = GOOD.replace("client:", "net: {chunk_max: 7}\nclient:", 1).replace(": 3", ": 40")
ESCAPE = "\x1b"


# ---- exit codes ----


def test_exit_codes(bench):
    assert bench.only(GOOD)[:2] == (0, "passed")
    assert bench.only(RED)[:2] == (1, "failed")
    assert bench.only(DISPUTED)[:2] == (4, "disputed")
    assert bench.only(ONLY_TLS, world="all")[:2] == (0, "passed")
    nothing = bench.judge(bench.write(ONLY_TLS), world="live")[0]
    assert nothing.returncode == 4 and "nothing to run: no scenario that matches claims such a world" in nothing.stderr
    assert bench.only(GOOD, "--client", "/nonexistent/client", world="live")[:2] == (3, "error")


def test_an_error_weighs_more_than_a_failure_and_a_failure_more_than_green(bench):
    bench.write(GOOD, "a.yaml"), bench.write(RED, "b.yaml"), bench.write(DISPUTED, "c.yaml")
    done, runs = bench.judge(bench.folder)
    assert done.returncode == 1 and [run["verdict"] for run in runs] == ["passed", "failed", "disputed"]
    bench.write(GOOD.replace("${server};", "${server};" + "x" * 5000), "d.yaml")
    done, runs = bench.judge(bench.folder)
    assert done.returncode == 3 and [run["verdict"] for run in runs] == ["passed", "failed", "disputed", "error"]


@pytest.mark.parametrize("args", [
    [], ["--nothing"], ["--world", "mars", "x.yaml"], ["--seed", "0", "x.yaml"], ["--seed", "1x", "x.yaml"],
    ["-j", "0", "x.yaml"], ["--repeat", "-1", "x.yaml"], ["--client-limit", "0", "x.yaml"], ["--explain"],
    ["--client", "x", "--world", "sim", "x.yaml"], ["--world", "all", "--client", "x", "x.yaml"]])
def test_wrong_usage(runner, args):
    done = runner.run(*args)
    assert done.returncode == 2 and done.stdout == ""
    assert "--help" in done.stderr or "is not a number" in done.stderr


def test_help_and_version(runner):
    told = runner.run("--help")
    assert told.returncode == 0 and told.stderr == ""
    for option in ("--world", "--only", "--failed", "--list", "--seed", "--repeat", "--journal", "--junit", "--json",
                   "--client", "--client-limit", "--explain", "--schema", "--no-deadline", "exit code"):
        assert option in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 110
    assert re.fullmatch(r"qwp-scenario \d+\.\d+\.\d+\n", runner.run("--version").stdout)


# ---- what is red says why ----


@pytest.mark.parametrize("text,why", [
    (RED, "{path}:12: srv.frames: expected 4, seen 3"),
    (WITH_FAULT, "{path}:12: client.send nth 9 EPIPE did not fire (1 such call was made)"),
    (GOOD.replace("accept}", "accept, reset: {at_frame: 9}}"), "{path}:10: reset at frame 9 never came"),
    (GOOD.replace("accept}", "accept}\n  - {connection: 2, upgrade: accept}"), "{path}:11: connection 2 never came"),
    (GOOD.replace("  - {connection: 1, upgrade: accept}", "  []"), "{path}: connection 1 is not in the script"),
], ids=["expectation", "fault", "script step", "connection", "no entry"])
@pytest.mark.parametrize("world", ["sim", "live"])
def test_a_red_one_names_file_and_line(bench, text, why, world):
    code, verdict, told = bench.only(text.replace("within: 5s", "within: 300ms"), world=world)
    assert code in (1, 3) and verdict in ("failed", "error")
    wanted = why.format(path=bench.folder / "a.yaml")
    # Over loopback the number of writes is the kernel's business.
    assert told.startswith(wanted.split(" (")[0] if world == "live" else wanted), told


def test_the_command_that_repeats_a_red_one_does(bench):
    text = RED.replace("claim:", "matrix: {n: [1, 2, 12]}\nclaim:").replace("rows: 3", 'rows: "${n}"').replace("4", "2")
    done, runs = bench.judge(bench.write(text), "--seed", "77")
    red = [run for run in runs if run["verdict"] == "failed"]
    assert [run["scenario"].partition("[")[2] for run in red] == ["n=1]", "n=12]"]
    for run in red:
        assert "--seed 77" in run["repeat"]
        again = subprocess.run(shlex.split(run["repeat"]) + ["--report", "/dev/null"], capture_output=True, text=True)
        assert again.returncode == 1 and run["why"] in again.stdout and "0 passed, 1 failed" in again.stdout


@pytest.mark.parametrize("world", ["sim", "live"])
def test_a_mistake_in_the_connect_string_is_told_by_its_line_and_alone(bench, world):
    text = WITH_FAULT.replace("${server};", "${server};no_such_key=1;")
    line = 1 + [" config:" in one for one in text.splitlines()].index(True)
    code, verdict, why = bench.only(text, world=world)
    assert (code, verdict) == (1, "failed") and "no_such_key" in why
    assert why.startswith(f"{bench.folder / 'a.yaml'}:{line}: create: ") and "did not fire" not in why


def told_behind(word, stdout):
    return re.search(rf"^  {word}: +(.*)$", stdout, re.M).group(1)


def test_one_fault_of_a_matrix_is_told_once(bench):
    text = RED.replace("claim:", "matrix: {n: [1, 2, 12, 13]}\nclaim:").replace("rows: 3", 'rows: "${n}"')
    done, runs = bench.judge(bench.write(text))
    stem = str(bench.folder / "a")
    assert done.stdout.count("repeat:") == 1 and told_behind("repeat", done.stdout) == runs[0]["repeat"]
    assert f"FAIL {stem}[n=1] [sim] and 3 more lines of this matrix: srv.frames: expected 4, seen 1\n" in done.stdout
    assert [run["verdict"] for run in runs] == ["failed"] * 4 and "0 passed, 4 failed of 4 cases; " in done.stdout
    twice, _ = bench.judge(bench.write(RED), "--repeat", "2", "-q")
    assert f"FAIL {stem} [sim] and 1 more run: " in twice.stdout


def test_a_red_one_shows_what_its_rules_say_and_how_to_see_the_bytes(bench):
    done, _ = bench.judge(bench.write(RED))
    assert told_behind("cited", done.stdout) == "P121-01 Send first, poll only when the socket is full"
    told = told_behind("bytes", done.stdout)
    wire = subprocess.run(shlex.split(told) + ["--report", "/dev/null"], capture_output=True, text=True)
    lines = [json.loads(line) for line in wire.stdout.splitlines()]
    assert any("hex" in line for line in lines), sorted({key for line in lines for key in line})


# ---- which ----


def test_list_only_and_world(bench):
    path = bench.write(GOOD.replace("claim:", "matrix: {n: [3, 30]}\nclaim:").replace("rows: 3", 'rows: "${n}"'))
    stem = str(path)[:-5]
    names = [f"{world} {stem}[n={n}]" for world in ("sim", "live") for n in (3, 30)]
    assert bench.run("--list", path).stdout.splitlines() == names
    assert bench.run("--list", "--world", "live", "--only", "[n=3]", path).stdout == f"live {stem}[n=3]\n"
    nothing = bench.run("--only", "no such name", path)
    assert nothing.returncode == 4
    assert "nothing to run: no scenario has the text of --only in its name" in nothing.stderr
    assert bench.run("--list", "--only", "no such name", path).returncode == 4


def test_failed_runs_what_was_red_last_time(bench):
    report = bench.folder / "report.jsonl"
    green, red = bench.write(GOOD, "green.yaml"), bench.write(RED, "red.yaml")
    assert bench.run("--world", "sim", "--report", report, bench.folder).returncode == 1
    assert bench.run("--failed", "--report", report, "--list", bench.folder).stdout == f"sim {str(red)[:-5]}\n"
    red.write_text(GOOD)
    done = bench.run("--failed", "--report", report, "-q", bench.folder)
    assert done.returncode == 0 and done.stdout == "1 passed, 0 failed of 1 cases; 0 faults fired, 0 samples\n"
    assert bench.run("--failed", "--report", report, bench.folder).returncode == 4
    red.write_text(RED)
    assert bench.run("--world", "sim", "--report", report, red).returncode == 1
    assert bench.run("--world", "sim", "--report", report, green).returncode == 0  # says nothing of the red one
    assert bench.run("--failed", "--report", report, "--list", bench.folder).stdout == f"sim {str(red)[:-5]}\n"
    assert len(report.read_text().splitlines()) == 3
    missing = bench.run("--failed", "--report", bench.folder / "none", green)
    assert missing.returncode == 2 and "no report at" in missing.stderr


def test_another_client_never_counts_runs_of_the_built_in_one(bench):
    path = bench.write(GOOD)
    assert bench.run("--client", "x", "--list", path).stdout == f"live {str(path)[:-5]}\n"
    done = bench.run("--client", "/nonexistent/client", "--report", "/dev/null", path)
    assert done.returncode == 3 and "0 passed, 1 failed" in done.stdout


def test_repeat_runs_the_set_that_often(bench):
    done, runs = bench.judge(bench.write(GOOD), "--repeat", "5", "-q")
    assert len(runs) == 5 and done.stdout == "5 passed, 0 failed of 5 cases; 0 faults fired, 0 samples\n"


# ---- seeds and journals ----


def journal(bench, text, *args):
    path = bench.folder / "journal.jsonl"
    bench.only(text, "--journal", path, *args)
    return path.read_bytes()


def test_a_seed_fixes_every_byte_of_the_journal(bench):
    once, again, other = (journal(bench, CUT, "--seed", seed) for seed in ("7", "7", "8"))
    assert once == again
    events = [text.split(b"\n", 1)[1] for text in (once, other)]  # the header names the seed
    assert events[0] != events[1]
    assert journal(bench, CUT) == journal(bench, CUT)
    assert journal(bench, CUT.replace("claim:", "seed: 8\nclaim:")).split(b"\n", 1)[1] == journal(
        bench, CUT.replace("claim:", "seed: 8\nclaim:"), "--seed", "8").split(b"\n", 1)[1]


@pytest.mark.parametrize("world", ["sim", "live"])
def test_the_journal_is_lines_of_json_behind_a_header(bench, world):
    awkward = GOOD.replace("claim:", "matrix: {text: ['a\"b\\c']}\nclaim:").replace("accept}", "accept, ack: each}")
    path = bench.folder / "journal.jsonl"
    bench.only(awkward, "--journal", path, "--hex", world=world)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    stem = str(bench.folder / "a")
    assert lines[0] == {"journal": "qwp-scenario", "version": 1, "scenario": stem + '[text=a"b\\c]', "world": world,
                        "seed": lines[0]["seed"]} and lines[0]["seed"] > 0
    assert lines[1]["journal"] == "qwp-mock" and lines[1]["version"] == 1
    frames = [line for line in lines if line.get("event") == "frame"]
    assert [f["seq"] for f in frames] == [0, 1, 2] and all(len(f["hex"]) == 2 * f["bytes"] for f in frames)
    replies = [line for line in lines if line.get("event") == "reply"]
    assert [r["seq"] for r in replies] == [0, 1, 2]
    times = [line["t_ns"] for line in lines if "t_ns" in line]
    assert times == sorted(times)


def test_the_clients_calls_stand_where_they_happened(bench):
    lines = [json.loads(line) for line in journal(bench, GOOD).splitlines()]
    events = [line for line in lines if "side" in line]
    assert all("t_ns" in line and "event" in line and "conn" in line for line in events)
    assert [line["t_ns"] for line in events] == sorted(line["t_ns"] for line in events)
    names = [line["event"] for line in events]
    # The request leaves before the mock upgrades, a frame before the mock decodes it, and both before the end.
    assert names.index("client.send") < names.index("upgrade") < names.index("frame") < names.index("end")
    data = [i for i, line in enumerate(events) if line["event"] == "client.send" and line["frame"] == 1]
    assert data and names.index("upgrade") < data[0] < names.index("frame")


def test_journal_on_standard_output_leaves_it_to_the_journal(bench):
    done = bench.run("--world", "sim", "--report", "/dev/null", "--journal", "-", bench.write(GOOD))
    assert done.returncode == 0 and "1 passed" in done.stderr
    assert all(isinstance(json.loads(line), dict) for line in done.stdout.splitlines())
    assert bench.run("--journal", bench.folder / "no" / "where", bench.write(GOOD)).returncode == 2


# ---- reports ----


def test_junit_counts_and_escapes(bench):
    bench.write(GOOD, "a.yaml"), bench.write(DISPUTED, "c.yaml")
    bench.write(RED.replace("Rows arrive.", "Rows <arrive> & \"stay\"."), "b & <b>.yaml")
    bench.write(GOOD.replace("${server};", "${server};" + "x" * 5000), "d.yaml")
    junit = bench.folder / "junit.xml"
    bench.judge("--junit", junit, bench.folder)
    suite = xml.etree.ElementTree.parse(junit).getroot()
    counts = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": 4, "failures": 1, "errors": 1, "skipped": 1}
    cases = {case.get("name").rpartition("/")[2]: [child.tag for child in case] for case in suite}
    assert cases == {"a": [], "b & <b>": ["failure"], "c": ["skipped"], "d": ["error"]}
    failure = suite.find("testcase/failure")
    assert failure.get("message").endswith("b & <b>.yaml:12: srv.frames: expected 4, seen 3")
    assert failure.text == 'Rows <arrive> & "stay".'


def test_results_as_json_lines(bench):
    done, runs = bench.judge(bench.write(RED), "--seed", "5")
    run = runs[0]
    assert (run["world"], run["verdict"], run["claim"]) == ("sim", "failed", "Rows arrive.")
    assert (run["cites"], run["kills"]) == (["P121-01"], ["some-mutant"]) and run["ns"] > 0
    header = json.loads((bench.folder / "results.jsonl").read_text().splitlines()[0])
    assert header == {"report": "qwp-scenario", "version": 1, "cases": 1, "passed": 0, "failed": 1, "disputed": 0,
                      "unsupported": 0, "error": 0, "fired": 0, "samples": 0, "skipped": []}


@pytest.mark.parametrize("option", ["--junit", "--json", "--report"])
def test_a_report_that_cannot_be_written_is_no_green(bench, option):
    nowhere = bench.folder / "no" / "where"
    done = bench.run("--world", "sim", "--report", "/dev/null", option, nowhere, bench.write(GOOD))
    assert done.returncode == 3 and f"{option} " in done.stderr


# ---- the screen ----


def on_a_terminal(bench, env):
    try:
        main, side = pty.openpty()
    except OSError:
        pytest.skip("not run: this system has no pseudo-terminals (/dev/pts is not mounted)")
    with subprocess.Popen([bench.program, "--world", "sim", "--report", "/dev/null", bench.write(RED)], stdout=side,
                          stderr=side, stdin=subprocess.DEVNULL, cwd=ROOT, env=env) as child:
        os.close(side)
        told = b""
        while True:
            try:
                more = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            told += more
    os.close(main)
    assert child.returncode == 1
    return told.decode()


def test_colours_only_on_a_terminal_that_wants_them(bench):
    plain = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    assert ESCAPE in on_a_terminal(bench, plain)
    without = on_a_terminal(bench, plain | {"NO_COLOR": "1"})
    assert ESCAPE not in without and "\r\n" in without and "\r" not in without.replace("\r\n", "")
    done = bench.run("--world", "sim", "--report", "/dev/null", bench.write(RED), env=plain)
    assert ESCAPE not in done.stdout + done.stderr and "\r" not in done.stdout


def test_the_table_has_a_line_a_topic(bench):
    for topic in ("east", "west"):
        (bench.folder / topic).mkdir()
        bench.write(GOOD, f"{topic}/a.yaml")
    done = bench.run("--world", "sim", "--report", "/dev/null", bench.folder)
    assert re.search(r"^east +1 ok ", done.stdout, re.M) and re.search(r"^west +1 ok ", done.stdout, re.M)
    assert "2 passed, 0 failed of 2 cases; " in done.stdout
    (bench.folder / "c.yaml").write_text(GOOD)
    alone = subprocess.run([bench.program, "--world", "sim", "--report", "/dev/null", "c.yaml"], cwd=bench.folder,
                           capture_output=True, text=True)
    assert re.search(r"^c +1 ok ", alone.stdout, re.M)


# ---- the language, explained ----


def test_explain(runner):
    told = runner.run("--explain", "publish")
    assert told.returncode == 0 and "example:" in told.stdout
    assert "replayed" in runner.run("--explain", "loop.replayed").stdout
    assert "that ask for readable only" in runner.run("--explain", "io.poll_r").stdout
    assert runner.run("--explain", "P121-27").stdout.startswith("P121-27 (seed item, exact)\n  Frames of a failed batch")
    rule = runner.run("--explain", "WIRE-FLAG-002")
    assert rule.returncode == 0 and rule.stdout.startswith("WIRE-FLAG-002 (requirement, client, must)\n  Bit 1 and ")
    assert runner.run("--explain", "CASE-08").stdout == ("CASE-08 (case, a bug of a real program)\n"
                                                         "  Last acknowledgements already received when the write fails\n")
    conflict = runner.run("--explain", "C-48").stdout
    assert conflict.startswith("C-48 (where the sources disagree)\n  state after a rejection.") and " Taken: " in conflict
    citing = runner.run("--explain", "P121-27", "scenarios/metrics").stdout.splitlines()[2:]
    files = sorted(ROOT.glob("scenarios/metrics/*.yaml"))
    wanted = [path for path in files if re.search(r"^cites:.*\bP121-27\b", path.read_text(), re.M)]
    assert wanted and citing == [f"  cited by: {path.relative_to(ROOT)}" for path in wanted]
    unknown = runner.run("--explain", "publsh")
    assert unknown.returncode == 2 and unknown.stdout == "publsh: no such key or counter, nearest valid key 'publish'\n"
    whole = runner.run("--explain", "all")
    assert whole.returncode == 0 and all(word in whole.stdout for word in ("claim", "at_frame", "srv.frames"))
