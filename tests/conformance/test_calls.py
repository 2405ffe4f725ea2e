"""Which calls the fault layer sees: the table of faults/README.md, held line by line (CASE-98)."""
import re

import pytest

from document import ROOT

ONE_ROW = """\
claim: One row arrives.
cites: [CASE-98]
kills: [some-mutant]
client:
  config: ws::addr=${server};auto_flush_interval=off;
  steps:
    - publish: {rows: 1, schema: tiny, flush: each}
    - close: {}
server:
  - {connection: 1, upgrade: accept, ack: each}
expect:
  srv.frames: 1
"""
WITH_EPIPE = ONE_ROW.replace("expect:", "faults:\n  - {at: client.send, nth: 1, do: EPIPE}\nexpect:")
FRAME_BYTES = 36


def table():
    """Call and what is said of it, in the order of the page."""
    page = (ROOT / "faults" / "README.md").read_text().split("## Calls that the layer sees")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)(?:\([\w_]+\))?`[^|]*\| (counted and failed|not visible here) \|$", page, re.M)


CALLS = dict(table())


def test_the_table_names_every_call_of_the_probe():
    source = (ROOT / "tests" / "probes" / "calls.c").read_text()
    known = re.findall(r'\{"(\w+)", (?:NULL|by_\w+)\}', source)
    assert list(CALLS) == known and len(known) == 13


@pytest.fixture
def probe(bench):
    program = bench.program.parents[1] / "tests" / "probe-calls"
    return lambda call, text: bench.judge(bench.write(text), "--client", f"{program} {call}", world="live")


@pytest.mark.parametrize("call", CALLS)
def test_bytes_that_no_counter_saw_are_an_error(probe, call):
    done, (run,) = probe(call, ONE_ROW)
    if call == "io_uring" and run["why"].endswith(("Operation not permitted", "Function not implemented")):
        pytest.skip("not run: io_uring is not allowed on this machine")
    if CALLS[call] == "counted and failed":
        assert (done.returncode, run["verdict"], run["why"]) == (0, "passed", "")
        return
    assert (done.returncode, run["verdict"]) == (3, "error")
    received, known = map(int, re.search(r"the server received (\d+) bytes, the client's counters know of (\d+): some went "
                                         "round them$", run["why"]).groups())
    assert received - known == FRAME_BYTES  # all of the frame, and nothing else, went past


@pytest.mark.parametrize("call", CALLS)
def test_a_rule_fires_for_the_calls_that_are_seen_and_for_no_others(probe, call):
    done, (run,) = probe(call, WITH_EPIPE)
    assert run["verdict"] in ("failed", "error") and done.returncode in (1, 3)
    assert run["fired"] == (1 if CALLS[call] == "counted and failed" else 0)
