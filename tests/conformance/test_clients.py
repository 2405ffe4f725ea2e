"""A client is judged by what the server saw: one that lies is red, one that dies is named, one that cannot says so."""
import json
import pathlib
import re
import time

import pytest

from document import GOOD, ROOT

PYTHON = "/usr/bin/python3"
LIAR = f"{PYTHON} {pathlib.Path(__file__).with_name('liar.py')}"
ADAPTER = f"{PYTHON} {ROOT / 'tests' / 'adapters' / 'python-min' / 'adapter.py'}"
NARROW = GOOD.replace("schema: tiny", "schema: narrow").replace("  srv.frames: 3", '  srv.conns: ">= 0"')
OWN_WORD = NARROW.replace('srv.conns: ">= 0"', "client.error: none")


def told_by(bench, mode, *args, text=NARROW):
    return bench.only(text, "--client", " ".join([LIAR, mode, *map(str, args)]), "--client-limit", "20", world="live")


@pytest.fixture(scope="module")
def frames(runner, tmp_path_factory):
    """Files of what the built-in client sends for a scenario, by schema."""
    folder = tmp_path_factory.mktemp("frames")

    def record(schema):
        scenario, journal, kept = (folder / f"{schema}{end}" for end in (".yaml", ".jsonl", ".hex"))
        scenario.write_text(NARROW.replace("narrow", schema))
        done = runner.run("--world", "sim", "--report", "/dev/null", "--hex", "--journal", journal, scenario)
        assert done.returncode == 0, done.stdout
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        kept.write_text("\n".join(line["hex"] for line in lines if line.get("event") == "frame"))
        assert len(kept.read_text().split()) == 3
        return kept
    return {schema: record(schema) for schema in ("narrow", "tiny")}


# ---- rows ----


def test_the_same_rows_told_honestly_are_green(bench, frames):
    assert told_by(bench, "honest", frames["narrow"]) == (0, "passed", "")
    assert told_by(bench, "honest", frames["tiny"], text=GOOD) == (0, "passed", "")


@pytest.mark.parametrize("mode,why", [
    ("lost", "row 1 of 3 accepted ones is lost"),
    ("lost-last", "row 2 of 3 accepted ones is lost"),
    ("doubled", "row 2 arrived twice although no connection was lost"),
    ("wrong-value", 'row 2 of table narrow (connection 1, wireSeq 2): column "px" is '),
    ("wrong-time", 'wireSeq 2): column "" is 1700000000000002001, expected 1700000000000002000'),
    ("wrong-table", "row 2 stands in table narrew, not in narrow"),
    ("invented", "table narrow holds row 1000, which was never given to the sender"),
    ("broken", "row 2 of 3 accepted ones is lost"),
])
def test_rows_that_are_not_right_are_red(bench, frames, mode, why):
    code, verdict, told = told_by(bench, mode, frames["narrow"])
    assert (code, verdict) == (1, "failed") and why in told, told


def test_rows_out_of_order_are_red(bench, frames):
    code, verdict, told = told_by(bench, "disordered", frames["tiny"], text=GOOD)
    assert (code, verdict) == (1, "failed") and "row 0 of table t arrived after row 1" in told, told


def test_a_violated_rule_is_told_before_the_cited_ones(bench, frames):
    client = " ".join([LIAR, "reserved-flag", str(frames["narrow"])])
    done, runs = bench.judge(bench.write(NARROW), "--client", client, world="live")
    assert "WIRE-FLAG-002 violated at connection 1, wireSeq 0" in runs[0]["why"], done.stdout
    told = done.stdout.splitlines()
    violated = next(n for n, line in enumerate(told) if line.startswith("  violated: WIRE-FLAG-002 Bit 1 and bits 4-7"))
    assert told[violated + 1].startswith("  cited:    P121-01 Send first")
    assert f" --world live --client '{client}' " in runs[0]["repeat"]


@pytest.mark.parametrize("mode,why", [
    ("silent", "a.yaml:10: connection 1 never came"),
    ("nothing-to-do", "connection 1 never came"),
    ("few-rows", "the client gave 0 rows, its steps publish 3"),
    ("none-accepted", "0 rows were accepted, the steps that succeeded flushed 3"),
    ("failed", "a.yaml:7: publish: I could not"),
    ("unfired", "a.yaml:12: client.send EPIPE did not fire"),
])
def test_a_client_that_did_not_do_it_is_red(bench, mode, why):
    code, verdict, told = told_by(bench, mode)
    assert (code, verdict) == (1, "failed") and why in told, told


def test_what_only_the_client_says_proves_nothing(bench):
    without_script = OWN_WORD.replace("  - {connection: 1, upgrade: accept}", "  []")
    code, verdict, told = told_by(bench, "silent", text=without_script)
    assert (code, verdict) == (1, "failed") and "row 0 of 3 accepted ones is lost" in told
    lifted = without_script.replace("client:", "allow: [loss]\nclient:", 1)
    code, verdict, told = told_by(bench, "silent", text=lifted)
    assert (code, verdict) == (1, "failed") and "nothing was observed" in told


def test_a_counter_that_the_client_does_not_tell_is_red(bench, frames):
    text = NARROW.replace('srv.conns: ">= 0"', "loop.sent: 3")
    code, verdict, told = told_by(bench, "honest", frames["narrow"], text=text)
    assert (code, verdict) == (1, "failed") and told.endswith("a.yaml:12: loop.sent was not observed")


def test_a_client_that_leaves_without_a_close_is_red(bench, frames):
    code, verdict, told = told_by(bench, "no-close", frames["narrow"])
    assert (code, verdict) == (1, "failed") and 'connection 1, the last, ended with "' in told, told
    lifted = NARROW.replace("client:", "allow: [unclean-end]\nclient:", 1)
    assert told_by(bench, "no-close", frames["narrow"], text=lifted) == (0, "passed", "")


# ---- clients that end ----


@pytest.mark.parametrize("mode,why", [
    ("segv", "the client died of signal 11 (Segmentation fault)"),
    ("segv-after-reply", "the client died of signal 11 (Segmentation fault) behind its answer"),
    ("kill", "the client died of signal 9 (Killed). "),
    ("bus", "the client died of signal 7 (Bus error). "),
    ("alarm", "the client died of signal 14 (Alarm clock). "),
    ("exit-3", "the client ended with exit code 3 and no answer"),
    ("exit-1", "the client ended with exit code 1 and no answer. I give up  "),
    ("bytes-then-exit", "the client ended with exit code 1 and no answer. ?? <&> ?"),
    ("nothing", "the client ended with exit code 0 and no answer"),
    ("garbage", "the client's answer is no line of JSON"),
    ("chatty", "the client's answer is no line of JSON"),
    ("no-ok", "ok: true or false is wanted"),
    ("no-unfired", "unfired: a string is wanted"),
    ("no-facts", "facts: an object is wanted"),
    ("wrong-fact", "client.rows: an integer or a string is wanted"),
    ("wrong-version", "reply: only version 1 is known"),
    ("unsupported-without-reason", "unsupported: a reason is wanted"),
])
def test_a_client_that_dies_or_babbles_is_an_error_with_its_name(bench, mode, why):
    junit = bench.folder / "junit.xml"
    path = bench.write(NARROW)
    done, runs = bench.judge(path, "--client", f"{LIAR} {mode}", "--junit", junit, world="live")
    assert done.returncode == 3 and len(runs) == 1, done.stdout + done.stderr
    assert runs[0]["verdict"] == "error" and f"{path}: {why}" in runs[0]["why"], runs[0]["why"]
    assert junit.read_bytes().decode("utf-8").isprintable() or "\n" in junit.read_text()  # no control bytes


@pytest.mark.parametrize("mode,behind", [("hang", ""), ("hang-in-a-child", ""), ("hang-without-outputs", ""),
                                         ("hang-after-reply", " behind its answer")])
def test_a_client_that_hangs_is_ended(bench, mode, behind):
    from_s = time.monotonic()
    path = bench.write(NARROW)
    done, runs = bench.judge(path, "--client", f"{LIAR} {mode}", "--client-limit", "1", world="live")
    assert done.returncode == 3 and f"the client hangs{behind}: it was ended after 1 s" in runs[0]["why"]
    assert time.monotonic() - from_s < 15


# ---- clients that cannot ----


def test_unsupported_is_neither_green_nor_red(bench):
    code, verdict, why = told_by(bench, "unsupported")
    assert (code, verdict) == (4, "unsupported") and why.endswith("a.yaml: knows no rows")
    junit = bench.folder / "junit.xml"
    done, _ = bench.judge(bench.folder / "a.yaml", "--client", f"{LIAR} unsupported", "--junit", junit, world="live")
    assert 'skipped="1"' in junit.read_text() and "unsupported: " in junit.read_text()
    assert "0 passed, 0 failed, 1 skipped" in done.stdout and "unsupported 1 x knows no rows\n" in done.stdout
    assert "0 ok, 1 unsupported" in done.stdout


def test_the_built_in_client_lacks_nothing(bench):
    assert bench.only(NARROW, world="live") == (0, "passed", "")


@pytest.fixture
def adapter(bench):
    return lambda text: bench.only(text, "--client", ADAPTER, world="live")


def test_the_smallest_adapter_passes_what_it_can(adapter):
    both = GOOD + "  loop.sent: 3\n  ring.acked: 2\n  client.error: none\n"
    assert adapter(both) == (0, "passed", "")
    assert adapter(both.replace(": 3", ": 700").replace("acked: 2", "acked: 699")) == (0, "passed", "")
    code, verdict, why = adapter(both.replace("srv.frames: 3", "srv.frames: 4"))
    assert (code, verdict) == (1, "failed") and "srv.frames: expected 4, seen 3" in why


@pytest.mark.parametrize("old,new,reason", [
    ("schema: tiny", "schema: narrow", "sends rows of schema tiny"),
    ("flush: each", "flush: end", "sends rows of schema tiny"),
    ("drain: {within: 5s}", "flush: {}", "sends rows of schema tiny"),
    ("auto_flush_interval=off", "reconnect_initial_backoff_millis=1", "knows addr and auto_flush only"),
    ("expect:", "faults:\n  - {at: client.send, nth: 1, do: EPIPE}\nexpect:", "faults cannot be injected"),
    ("srv.frames: 3", "loop.attempts: 1", 'counts little: ["loop.attempts"]'),
    ("upgrade: accept", "upgrade: {status: 503}", "tries no second upgrade"),
    ("upgrade: accept", "reset: {at_frame: 2}", "makes no second connection"),
    ("upgrade: accept", "nack: {status: 6, at_frame: 1}", "handles no error answer"),
])
def test_the_smallest_adapter_says_what_it_cannot(adapter, old, new, reason):
    code, verdict, why = adapter(GOOD.replace(old, new))
    assert (code, verdict) == (4, "unsupported") and reason in why, why


# ---- the protocol as it is written down ----


def examples(kind):
    text = (ROOT / "scenarios" / "client" / "README.md").read_text()
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.M | re.S)


def test_the_request_of_the_manual_is_the_one_the_runner_writes(bench):
    kept = bench.folder / "request.json"
    # Keeps the request and hands it to nobody: the run is unsupported.
    client = bench.write("import sys\nopen(sys.argv[1], 'w').write(sys.stdin.readline())\n"
                         "print('{\"reply\": 1, \"unsupported\": \"only looks\"}')\n", "look.py")
    bench.only(examples("yaml")[0], "--client", f"{PYTHON} {client} {kept}", "--seed", "7", world="live")
    written, told = json.loads(kept.read_text()), json.loads(examples("json")[0])
    for request in (written, told):
        request["config"] = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", request["config"])
    assert written == told


def test_the_replies_of_the_manual_are_taken(bench):
    for reply, verdict in zip(examples("json")[1:], ("failed", "unsupported"), strict=True):
        line = json.dumps(json.loads(reply))
        client = bench.write(f"print({line!r})\n", "say.py")
        # Nothing stands behind the first: it is taken, and then red for the connection that never came.
        code, seen, why = bench.only(NARROW, "--client", f"{PYTHON} {client}", world="live")
        assert seen == verdict and ("connection 1 never came" in why or "faults cannot be injected" in why), why
