#!/usr/bin/python3
"""flush_pair.py - what batching costs those who flush much at once, and what TLS costs, in one run.

  flush_pair.py --bin build/bin --work build/baseline-batch [--json FILE] [--pairs 5] [--flushes 1000]

Three senders of the same rows take turns, so that all see the same machine: this build, a baseline built with
tests/mutants/break-after-first-append.patch (a batch is one frame), and this build over TLS. A flush is 1000 rows and
more than 32768 bytes on the wire, so that no two frames fit a batch: each must be a write of its own in all of them
(P121-13). That count comes first, and is exact; without it no time is printed. Of the times the smallest is kept, and
nothing is judged by them. Socket calls are counted in a run of their own, through the fault layer; a full socket takes
more than one for a write."""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from baseline import build_baseline

ROWS_A_FLUSH = 1000
OFF = "auto_flush_rows=off;auto_flush_bytes=off;auto_flush_interval=off;"


@contextlib.contextmanager
def mock(program, *arguments):
    """A qwp-mock; yields host:port and, over TLS, the file with its CA."""
    with subprocess.Popen([program, "--port", "0", "--rows", "count", *arguments], stdout=subprocess.PIPE,
                          text=True) as server:
        try:
            address = server.stdout.readline().split()[1]
            yield address, server.stdout.readline().split()[1] if "--tls" in arguments else None
        finally:
            server.terminate()
            server.communicate()


def timed(program, config, flushes):
    """Figures of one sender: its own counters, and the processor time of its process."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        child = subprocess.Popen([program, "-q", "--json", out.name, "--schema", "types", "--rows",
                                  str(flushes * ROWS_A_FLUSH), "--flush", str(ROWS_A_FLUSH), config])
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"flush_pair.py: {program} ended with exit code {child.returncode}")
        figures = json.load(out)
    figures["cpu_ns"] = int((usage.ru_utime + usage.ru_stime) * 1e9)
    return figures


def socket_calls(program, config, flushes):
    """Facts of one sender behind the fault layer."""
    steps = [{"do": "publish", "line": 1, "schema": "types", "flush": "every", "every": ROWS_A_FLUSH,
              "rows": flushes * ROWS_A_FLUSH, "within_ns": 60 * 10**9},
             {"do": "drain", "line": 2, "within_ns": 60 * 10**9}]
    done = subprocess.run([program, "--child"], text=True, capture_output=True,
                          input=json.dumps({"request": 1, "config": config, "steps": steps}) + "\n")
    reply = json.loads(done.stdout) if done.returncode == 0 else {}
    if not reply.get("ok"):
        sys.exit(f"flush_pair.py: {program} --child: {reply or done.stderr}")
    return reply["facts"]


def must_be_a_write_each(name, figures, flushes):
    seen = {key: figures["counters"][key] for key in ("snd.flushes", "loop.sent", "tx.batches")}
    if set(seen.values()) != {flushes} or figures["counters"]["tx.copied_bytes"] <= 32768 * flushes:
        sys.exit(f"flush_pair.py: {name}: each of {flushes} flushes must be one frame and one write: {seen}")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of qwp-send and qwp-mock of this build")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for the baseline and its build")
    parser.add_argument("--json", type=pathlib.Path, help="the figures as JSON")
    parser.add_argument("--pairs", type=int, default=5, help="runs of each")
    parser.add_argument("--flushes", type=int, default=1000, help="flushes a run")
    return parser.parse_args()


def measure(o, baseline, plain, tls, ca):
    send = o.bin.resolve() / "qwp-send"
    senders = {"ws": (send, f"ws::addr={plain};{OFF}"), "ws, baseline": (baseline, f"ws::addr={plain};{OFF}"),
               "wss": (send, f"wss::addr={tls};tls_roots={ca};{OFF}")}
    best = {}
    for _ in range(o.pairs):
        for name, (program, config) in senders.items():
            seen = timed(program, config, o.flushes)
            must_be_a_write_each(name, seen, o.flushes)
            kept = best.setdefault(name, seen)
            best[name] |= {key: min(kept[key], seen[key]) for key in ("ns", "cpu_ns")}
    for name, (program, config) in senders.items():
        facts = socket_calls(program, config, o.flushes)
        best[name] |= {"io_send": facts["io.send"], "bytes": best[name]["counters"]["tx.copied_bytes"]}
    return best


def main():
    o = options()
    baseline = build_baseline(o.work.resolve(), "break-after-first-append", "qwp-send")
    program = o.bin.resolve() / "qwp-mock"
    with mock(program) as (plain, _), mock(program, "--tls") as (tls, ca):
        best = measure(o, baseline, plain, tls, ca)
    each = best["ws"]["bytes"] / o.flushes
    print(f"flushes of {ROWS_A_FLUSH} rows, {each:.0f} bytes: batching beside a baseline of one frame a batch, and TLS")
    print("                writes a flush   socket sends a flush     MB/s   CPU ns a row")
    for name, b in best.items():
        print(f"{name:14} {b['counters']['tx.batches'] / o.flushes:15.2f} {b['io_send'] / o.flushes:22.2f} "
              f"{b['bytes'] * 1e3 / b['ns']:8.1f} {b['cpu_ns'] / (o.flushes * ROWS_A_FLUSH):14.1f}")
    for name, of in (("ws, baseline", "batching / one frame a batch"), ("wss", "ws / wss")):
        print(f"{of}: CPU {best['ws']['cpu_ns'] / best[name]['cpu_ns']:.2f}, time {best['ws']['ns'] / best[name]['ns']:.2f}")
    if o.json:
        o.json.write_text(json.dumps(best) + "\n")


if __name__ == "__main__":
    main()
