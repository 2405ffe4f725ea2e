#!/usr/bin/python3
"""ack_pair.py - what an acknowledgement costs with lazy and with eager compaction, in one run.

  ack_pair.py --bench build/bin/ack_bench --work build/baseline [--json FILE] [--pairs 5]

The baseline is a second build, of the same sources with tests/mutants/compaction-behind-every-frame.patch: the rest of
the receive buffer moves to the front after each frame. The two programs run in turns, so that both see the same
machine; of each figure the smallest is kept. Bytes moved are exact. Processor time is this machine's at this moment, so
nothing is judged by it: an acknowledgement of a burst of N costs the baseline the more the larger N is (P121-44), and
with one answer a read both cost the same (P121-45)."""
import argparse
import json
import pathlib
import tempfile

from baseline import build_baseline, run

BURSTS = [1, 50, 500, 5000]


def figures(bench):
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        run(bench, "--json", out.name, *BURSTS)
        return {row["burst"]: row for row in json.load(out)}


def smallest(old, new):
    return {b: min(old.get(b, row), row, key=lambda r: r["cpu_ns_per_ack"]) for b, row in new.items()}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=pathlib.Path, required=True, help="ack_bench of this build")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for the baseline and its build")
    parser.add_argument("--json", type=pathlib.Path, help="the figures as JSON")
    parser.add_argument("--pairs", type=int, default=5, help="runs of each")
    return parser.parse_args()


def main():
    o = options()
    baseline = build_baseline(o.work.resolve(), "compaction-behind-every-frame", "ack_bench")
    lazy, eager = {}, {}
    for _ in range(o.pairs):
        lazy, eager = smallest(lazy, figures(o.bench.resolve())), smallest(eager, figures(baseline))
    print("one acknowledgement: lazy compaction, and the baseline that compacts behind every frame")
    print(" acks a read   ns an ack        baseline   ratio   bytes moved a read        baseline")
    for b in BURSTS:
        new, old = lazy[b], eager[b]
        ratio = old["cpu_ns_per_ack"] / new["cpu_ns_per_ack"]
        print(f"{b:12} {new['cpu_ns_per_ack']:11.1f} {old['cpu_ns_per_ack']:15.1f} {ratio:7.2f} "
              f"{new['moved_bytes_per_burst']:20.0f} {old['moved_bytes_per_burst']:15.0f}")
    if o.json:
        o.json.write_text(json.dumps({"lazy": list(lazy.values()), "eager": list(eager.values())}) + "\n")


if __name__ == "__main__":
    main()
