"""The harness judged: whatever dies, hangs, is missing or was not seen has a verdict with a label of its own, and is no green.

CASE-77 to CASE-80, CASE-94, CASE-96, CASE-99 and CASE-100 are the cases it answers.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from document import GOOD, ROOT
from test_clients import LIAR, NARROW, PYTHON

CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)? of (\d+) cases; (\d+) faults fired, (\d+) samples$", re.M)
RESET = GOOD.replace("accept}", "accept, reset: {at_frame: 2}}\n  - {connection: 2, upgrade: accept}").replace(
    "srv.frames: 3", 'srv.frames: ">= 3"')


def verdicts(runs):
    return {pathlib.Path(run["scenario"]).stem: run["verdict"] for run in runs}


def header(bench):
    return json.loads((bench.folder / "results.jsonl").read_text().splitlines()[0])


# ---- as many verdicts as were listed (CASE-80) ----


def test_what_is_listed_and_missing_is_an_error_and_the_others_run(bench):
    first, last = bench.write(GOOD, "a.yaml"), bench.write(GOOD, "z.yaml")
    missing = bench.folder / "m.yaml"
    done, runs = bench.judge(first, missing, last, "--junit", bench.folder / "j.xml")
    assert done.returncode == 2 and len(runs) == 3
    assert verdicts(runs) == {"a": "passed", "m": "error", "z": "passed"}
    assert [run["why"] for run in runs if run["verdict"] == "error"] == [f"{missing}: missing: No such file or directory"]
    assert f"ERROR {missing} [sim]" in done.stdout and CLOSING.search(done.stdout).groups()[:2] == ("2", "1")
    assert 'errors="1"' in (bench.folder / "j.xml").read_text()
    assert bench.run("--list", first, missing).returncode == 2


def test_a_journal_that_finds_no_room_is_an_error(bench):
    done, runs = bench.judge(bench.write(GOOD, "a.yaml"), "--journal", "/dev/full")
    assert done.returncode == 3
    assert [run["why"] for run in runs] == [f"{bench.folder / 'a.yaml'}: the journal cannot be written: No space left on device"]


@pytest.mark.parametrize("words", ["qwp-scenario --schema", "qwp-scenario -q {file}", "qwp-sweep --life one-frame --list",
                                   "qwp-mock --help", "qwp-send --help", "qwp-soak --help"])
def test_an_answer_that_nobody_got_is_no_success(runner, bench, words):
    name, *rest = words.format(file=bench.write(GOOD)).split()
    command = [runner.program.with_name(name), *rest]
    assert subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0
    with open("/dev/full", "w", encoding="ascii") as full:
        lost = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert lost.returncode == 3
    assert lost.stderr.endswith(f"{name}: standard output: No space left on device\n")


def test_red_ones_of_a_report_that_are_not_given_are_told(bench):
    report = bench.folder / "report.jsonl"
    red = GOOD.replace("srv.frames: 3", "srv.frames: 4")
    stays, goes = bench.write(red, "stays.yaml"), bench.write(red, "goes.yaml")
    assert bench.run("--world", "sim", "--report", report, stays, goes).returncode == 1
    goes.unlink()
    again = bench.run("--failed", "--report", report, bench.folder)
    assert again.returncode == 1 and f"1 red ones of {report} are not among the files given" in again.stderr


def test_each_way_to_end_without_a_verdict_has_its_label_and_the_next_ones_run(bench):
    modes = ["kill", "bus", "alarm", "nothing", "hang", "segv-after-reply", "unsupported", "exit-3"]
    dispatch = bench.write(f"""\
import json, os, sys
line = sys.stdin.readline()
mode = os.environ["MODES"].split()[json.loads(line)["steps"][0]["rows"] - 1]
r, w = os.pipe()
os.write(w, line.encode())
os.dup2(r, 0)
os.execv("{PYTHON}", ["{PYTHON}", "{pathlib.Path(__file__).with_name('liar.py')}", mode])
""", "dispatch.py")
    text = NARROW.replace("claim:", "matrix: {n: ['1..%d']}\nclaim:" % len(modes)).replace("rows: 3", 'rows: "${n}"')
    done, runs = bench.judge(bench.write(text), "--client", f"{PYTHON} {dispatch}", "--client-limit", "2", world="live",
                             env=os.environ | {"MODES": " ".join(modes)})
    assert done.returncode == 3 and len(runs) == len(modes) == header(bench)["cases"]
    told = [re.sub(r"^.*?\.yaml: ", "", run["why"]).split(". ")[0] for run in runs]
    assert told == ["the client died of signal 9 (Killed)", "the client died of signal 7 (Bus error)",
                    "the client died of signal 14 (Alarm clock)", "the client ended with exit code 0 and no answer",
                    "the client hangs: it was ended after 2 s",
                    "the client died of signal 11 (Segmentation fault) behind its answer", "knows no rows",
                    "the client ended with exit code 3 and no answer"]
    assert len(set(told)) == len(told)


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def until(found, limit_s=20):
    """Waits for an event, not for a time: the limit only ends a test that is red anyhow."""
    end = time.monotonic() + limit_s
    while not (result := found()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)
    return result


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGBUS])
def test_a_worker_killed_from_outside_is_one_error_and_takes_its_client_along(bench, sent):
    for name in ("a", "b", "c"):
        bench.write(NARROW, f"{name}.yaml")
    results = bench.folder / "results.jsonl"
    # The first client hangs, and stays away for good; the others are the honest one's business.
    client = bench.write(f"""\
import os, sys
try:
    os.close(os.open("{bench.folder}/first", os.O_CREAT | os.O_EXCL))
except FileExistsError:
    os.execv("{PYTHON}", ["{PYTHON}", "{pathlib.Path(__file__).with_name('liar.py')}", "unsupported"])
sys.stdin.readline()
open("{bench.folder}/hangs", "w").close()
import time; time.sleep(600)
""", "client.py")
    command = [bench.program, "--world", "live", "-j", "1", "--report", "/dev/null", "--json", results, "--client",
               f"{PYTHON} {client}", bench.folder]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        until((bench.folder / "hangs").exists)
        worker, = children(run.pid)
        hanging, = children(worker)
        os.kill(worker, sent)
        told, _ = run.communicate(timeout=60)
    until(lambda: not pathlib.Path(f"/proc/{hanging}").exists())
    runs = [json.loads(line) for line in results.read_text().splitlines()[1:]]
    assert run.returncode == 3 and verdicts(runs) == {"a": "error", "b": "unsupported", "c": "unsupported"}
    assert runs[0]["why"].endswith(f"the process that ran it died of signal {sent.value} ({signal.strsignal(sent)})")
    assert CLOSING.search(told).groups()[:4] == ("0", "1", "2", "3")


# ---- peers that are of no use (CASE-99) ----


@pytest.mark.parametrize("mode,code,verdict,why", [
    ("close-at-once", 1, "failed", "connection 1 never came"),
    ("one-byte", 1, "failed", "connection 1 never came"),
    ("silent", 1, "failed", "connection 1 never came"),
    ("exit-3", 3, "error", "the client ended with exit code 3 and no answer"),
])
def test_a_peer_that_is_of_no_use_has_a_verdict_and_the_report_is_whole(bench, mode, code, verdict, why):
    text = NARROW.replace("claim:", "matrix: {n: ['1..5']}\nclaim:").replace("rows: 3", 'rows: "${n}"')
    junit = bench.folder / "junit.xml"
    done, runs = bench.judge(bench.write(text), "--client", f"{LIAR} {mode}", "--junit", junit, world="live")
    assert done.returncode == code and [run["verdict"] for run in runs] == [verdict] * 5
    assert all(why in run["why"] for run in runs), runs[0]["why"]
    assert header(bench)["cases"] == 5 and 'tests="5"' in junit.read_text()


@pytest.mark.parametrize("world", ["sim", "live"])
def test_a_101_without_its_accept_header_has_a_verdict(bench, world):
    raw = r'{raw: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"}'
    text = GOOD.replace("upgrade: accept", f"upgrade: {raw}")
    code, verdict, why = bench.only(text, world=world)
    assert (code, verdict) == (1, "failed") and "has a wrong Sec-WebSocket-Accept" in why, why


def test_a_client_that_ends_before_it_begins_is_noticed_by_its_end(bench):
    """The time it could have had is a day: nobody waits for it."""
    done, runs = bench.judge(bench.write(NARROW), "--client", f"{LIAR} exit-3", "--client-limit", "86400", world="live")
    assert done.returncode == 3 and "ended with exit code 3" in runs[0]["why"]


def test_the_time_of_a_run_is_bounded_by_one_deadline(bench):
    """Ten clients that hang for a minute each, and a deadline for all of them together."""
    text = NARROW.replace("claim:", "matrix: {n: ['1..10']}\nclaim:").replace("rows: 3", 'rows: "${n}"')
    begin = time.monotonic()
    done, runs = bench.judge(bench.write(text), "--client", f"{LIAR} hang", "--run-limit", "2", world="live")
    assert time.monotonic() - begin < 60  # not even one of the ten minutes
    assert done.returncode == 3 and [run["verdict"] for run in runs] == ["error"] * 10
    assert "was not run to its end: the time of the whole run, 2 s, was over" in runs[0]["why"]
    assert all("was not begun: the time of the whole run, 2 s, was over" in run["why"] for run in runs[1:])
    assert CLOSING.search(done.stdout).groups()[:4] == ("0", "10", None, "10")


# ---- the mock is part of the harness (CASE-78, CASE-94) ----


def test_a_mock_that_broke_is_an_error_that_names_the_call(bench):
    code, verdict, why = bench.only(NARROW, "--client", f"{LIAR} shut-the-mock", world="live")
    assert (code, verdict) == (3, "error")
    assert ": the mock broke: poll: the listening socket was shut down" in why, why


def test_64_at_once_have_a_port_each(bench):
    text = RESET.replace("claim:", "matrix: {n: ['1..64']}\nclaim:").replace("schema: tiny", "schema: tiny, rows: 3", 0)
    text = text.replace("rows: 3", 'rows: "${n}"').replace('">= 3"', '">= 1"').replace("at_frame: 2", "at_frame: 1")
    done, runs = bench.judge(bench.write(text), "-j", "64", world="live")
    assert done.returncode == 0 and [run["verdict"] for run in runs] == ["passed"] * 64, done.stdout
    assert CLOSING.search(done.stdout).groups()[:5] == ("64", "0", None, "64", "64")


# ---- load changes no verdict (CASE-79) ----

MIXED = {
    "green": (RESET, "passed"),
    "red": (GOOD.replace("srv.frames: 3", "srv.frames: 4"), "failed"),
    "unfired": (GOOD.replace("expect:", "faults:\n  - {at: client.send, nth: 999, do: EPIPE}\nexpect:"), "failed"),
    "late": (GOOD.replace("accept}", "accept, nack: {status: 6, at_frame: 2}}").replace("drain: {within: 5s}",
             "drain: {error: QWP_REJECTED}").replace("{rows: 3, ", "{rows: 2, ").replace("srv.frames: 3", "srv.errors: 1")
             .replace("client:", "allow: [unclean-end, loss]\nclient:", 1), None),
}


@pytest.fixture
def mixed(bench):
    for name, (text, _) in MIXED.items():
        bench.write(text, f"{name}.yaml")
    return bench


def judged(bench, program, *args):
    results = bench.folder / "results.jsonl"
    command = [*program, str(bench.program), "-q", "--report", "/dev/null", "--json", results, *args, bench.folder]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    runs = [json.loads(line) for line in results.read_text().splitlines()[1:]]
    results.unlink()
    return done, sorted((run["scenario"], run["world"], run["verdict"], run["why"].split(" (")[0]) for run in runs)


def test_verdicts_are_the_same_on_a_machine_that_has_no_time(mixed):
    _, calm = judged(mixed, [], "-j", "1")
    assert len(calm) == 2 * len(MIXED)
    for name, (_, verdict) in MIXED.items():
        assert verdict is None or {v for s, _, v, _ in calm if s.endswith(f"/{name}")} == {verdict}
    burn = [subprocess.Popen([PYTHON, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        _, loaded = judged(mixed, ["nice", "-n", "19"], "-j", min(64, 8 * os.cpu_count()), "--repeat", "2")
    finally:
        for process in burn:
            process.kill()
            process.wait()
    assert loaded == sorted(2 * calm)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="not run: valgrind is not installed")
def test_verdicts_are_the_same_under_valgrind(bench):
    """Some fifty times slower: one claim in both worlds is enough."""
    bench.write(MIXED["unfired"][0], "unfired.yaml")
    _, calm = judged(bench, [])
    done, slow = judged(bench, ["valgrind", "-q", "--trace-children=yes", "--error-exitcode=99", "--leak-check=no"])
    assert len(calm) == 2 and slow == calm and done.returncode == 1, done.stderr


def test_every_scenario_of_the_set_tells_that_its_faults_fired(bench):
    """Also over loopback, where nobody counts calls: a scenario with faults and none that fired would prove nothing."""
    done, runs = bench.judge(ROOT / "scenarios" / "metrics", world="live")
    assert done.returncode == 0, done.stdout
    texts = {run["scenario"]: (ROOT / (run["scenario"].partition("[")[0] + ".yaml")).read_text() for run in runs}
    asked = [run for run in runs if re.search(r"^faults:\n  - ", texts[run["scenario"]], re.M)]
    assert len(asked) >= 5 and [run["scenario"] for run in asked if run["fired"] == 0] == []
    assert header(bench)["fired"] == sum(run["fired"] for run in runs)


# ---- no evidence is no proof (CASE-100) ----

MEMORY = GOOD.replace("srv.frames: 3", 'srv.frames: 3\n  client.rss: "1..1000000000"\n  client.rss_max: "1..1000000000"')
HIDE_PROC = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
can_hide = subprocess.run(HIDE_PROC + ["true"], capture_output=True).returncode == 0


def test_memory_is_judged_where_it_was_seen(bench):
    assert bench.only(MEMORY, world="live") == (0, "passed", "")
    code, verdict, why = bench.only(MEMORY.replace("1..1000000000", "< 4096"), world="live")
    assert (code, verdict) == (1, "failed") and "client.rss: expected < 4096, seen " in why


def test_memory_of_a_client_that_is_no_process_is_unsupported(bench):
    code, verdict, why = bench.only(MEMORY, world="sim")
    assert (code, verdict) == (4, "unsupported") and "client.rss does not exist in the simulated world" in why


def test_memory_that_an_adapter_does_not_tell_is_no_green(bench):
    text = NARROW.replace('srv.conns: ">= 0"', 'client.rss: ">= 0"')
    code, verdict, why = bench.only(text, "--client", f"{LIAR} silent", world="live")
    assert (code, verdict) == (3, "error") and why.endswith("0 samples for client.rss: no evidence is no proof")


@pytest.mark.skipif(not can_hide, reason="not run: /proc cannot be hidden without the right to mount")
@pytest.mark.parametrize("text,name", [(MEMORY, "client.rss"), (GOOD, "proc.threads")])
def test_without_proc_nothing_that_needs_it_is_green(bench, text, name):
    path, results = bench.write(text), bench.folder / "results.jsonl"
    done = subprocess.run([*HIDE_PROC, bench.program, "--world", "live", "-j", "1", "--report", "/dev/null", "--json", results,
                           path], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"{path}: 0 samples for {name}: no evidence is no proof" in done.stdout
    assert CLOSING.search(done.stdout).groups() == ("0", "1", None, "1", "0", "0")


def test_a_summary_tells_cases_faults_samples_and_what_was_skipped(bench):
    bench.write(GOOD, "a.yaml")
    bench.write(MEMORY, "b.yaml")
    bench.write(GOOD.replace("client:", "disputed: Two texts disagree.\nclient:", 1), "c.yaml")
    bench.write(RESET, "d.yaml")
    bench.write(GOOD.replace("expect:", "faults:\n  - {at: client.send, nth: 1, do: EPIPE}\nexpect:").replace(
        "accept}", "accept}\n  - {connection: 2, upgrade: accept}"), "e.yaml")
    done, runs = bench.judge(bench.folder, "-q")
    assert done.returncode == 0
    assert done.stdout == ("unsupported 1 x client.rss does not exist in the simulated world, where the client is no process\n"
                           "disputed 1 x Two texts disagree\n"
                           "3 passed, 0 failed, 2 skipped of 5 cases; 2 faults fired, 0 samples\n")
    assert [run["fired"] for run in runs] == [0, 0, 0, 1, 1]
    told = header(bench)
    assert [skipped["verdict"] for skipped in told.pop("skipped")] == ["unsupported", "disputed"]
    assert told == {"report": "qwp-scenario", "version": 1, "cases": 5, "passed": 3, "failed": 0, "disputed": 1,
                    "unsupported": 1, "error": 0, "fired": 2, "samples": 0}
    done, runs = bench.judge(bench.folder / "a.yaml", world="live")
    assert runs[0]["samples"] >= 2 and header(bench)["samples"] == runs[0]["samples"]


# ---- leaks (CASE-77) ----


def soak(runner, *args):
    program = runner.program.with_name("qwp-soak")
    return subprocess.run([str(program), "--resets", "16", "--outage-ms", "10", "--seconds", "2", *map(str, args)], cwd=ROOT,
                          capture_output=True, text=True)


@pytest.mark.parametrize("mode,code,told", [("nothing", 0, "client.fds: no leak: "), ("descriptors", 1, "client.fds: leaks: "),
                                            ("memory", 1, "client.rss: leaks: ")])
def test_a_soak_run_is_red_for_what_never_comes_back(runner, tmp_path, mode, code, told):
    leaker = pathlib.Path(__file__).with_name("leaker.py")
    done = soak(runner, "--client", f"{PYTHON} {leaker} {mode}", "--out", tmp_path)
    assert done.returncode == code and told in done.stdout, done.stdout + done.stderr
    series = "client.rss" if mode == "memory" else "client.fds"
    again = subprocess.run([str(runner.program.with_name("qwp-soak")), "--judge", tmp_path / series], capture_output=True,
                           text=True)
    assert again.returncode == code and told in again.stdout and again.stdout in done.stdout


def test_the_built_in_client_does_not_leak_in_a_short_soak(runner):
    done = soak(runner)
    assert done.returncode == 0 and re.search(r"^1[67] connections, 16 resets with an outage, ", done.stdout), done.stdout
    assert done.stdout.count(": no leak: ") == 2


def test_a_soak_run_without_evidence_is_no_green(runner):
    dead = soak(runner, "--client", "/bin/false")
    assert dead.returncode == 3 and "the client ended with exit code 1 by itself" in dead.stderr
    assert soak(runner, "--resets", "3").returncode == 2
    if can_hide:
        program = runner.program.with_name("qwp-soak")
        command = [program, "--resets", "16", "--outage-ms", "10", "--seconds", "1", "--client",
                   f"{program.with_name('qwp-send')} -q --rows 900000000 --flush 10 --pause-ms 5"]
        hidden = subprocess.run(HIDE_PROC + [str(word) for word in command], capture_output=True, text=True)
        assert hidden.returncode == 3 and "0 samples for client.rss" in hidden.stdout, hidden.stdout + hidden.stderr


# ---- a script step is used up by nobody else (CASE-96) ----

PROBED = """\
claim: Probes use up no entry.
cites: [CASE-96]
kills: [some-mutant]
client:
  config: ws::addr=${server};auto_flush_interval=off;reconnect_initial_backoff_millis=1;initial_connect_retry=on;
  steps:
    - probe: {}
    - probe: {send: "GET /wr"}
    - publish: {rows: 1, schema: tiny, flush: each}
    - drain: {within: 20s}
server:
  - {connection: 1, upgrade: die}
  - {connection: 2, upgrade: accept, reset: {at_frame: 1}}
  - {connection: 3, ack: each}
expect:
  srv.unmatched: 2
  srv.conns: 3
  srv.frames: 2
"""


def journals(path):
    """What the mock wrote of each run: which connection met which entry (its line), without times and random bytes."""
    runs = []
    for line in map(json.loads, path.read_text().splitlines()):
        if line.get("journal") == "qwp-scenario":
            runs.append((pathlib.Path(line["scenario"]).name, []))
        elif line.get("side") == "srv":
            runs[-1][1].append({key: value for key, value in line.items() if key not in ("t_ns", "link")})
    return runs


@pytest.mark.parametrize("world", ["sim", "live"])
def test_probes_use_up_no_step_whatever_ran_before_in_the_process(bench, world):
    probed, other = bench.write(PROBED, "probed.yaml"), bench.write(RESET, "other.yaml")
    kept = []
    for order in ([probed, probed, other], [other, probed, probed]):
        path = bench.folder / "journal.jsonl"
        done, runs = bench.judge(*order, "--journal", path, "--repeat", "2", world=world)
        assert done.returncode == 0, done.stdout
        kept += [events for name, events in journals(path) if name == "probed"]
    assert len(kept) == 8
    lines = {number: text for number, text in enumerate(PROBED.splitlines(), 1)}
    used = [[(event["conn"], lines[event["line"]].split()[2].strip("},")) for event in events if event["event"] in (
        "refuse", "upgrade")] for events in kept]
    assert used == [[(1, "1"), (2, "2"), (3, "3")]] * 8  # each connection tells the line of its own entry
    ends = [[event["how"] for event in events if event.get("unmatched")] for events in kept]
    assert all(len(end) == 2 for end in ends)
    if world == "sim":
        assert all(events == kept[0] for events in kept)


def test_a_step_that_is_never_reached_fails(bench):
    text = PROBED.replace("expect:", "  - {connection: 4, upgrade: accept}\nexpect:")
    code, verdict, why = bench.only(text)
    assert (code, verdict) == (1, "failed") and "connection 4 never came" in why, why
