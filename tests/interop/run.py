#!/usr/bin/python3
"""Released clients against qwp-mock: the Python package questdb, as its own first page shows and through four lives of
10 000 rows. Every row is judged by value. Violations of the protocol are reported, not failed: the client is released.

Exit: 0 every row is right; 1 a row is missing or wrong, or the client failed; 3 a case could not be judged.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

import judge
import mock
import rule

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Client:
    """A program of this folder, run by the Python that has the package."""

    def __init__(self, python, program, *arguments):
        self.process = subprocess.Popen([python, str(HERE / program), *map(str, arguments)], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)

    def end(self):
        """Waits for it. None, or what it complained about."""
        try:
            said = self.process.communicate(timeout=mock.PATIENCE_S)[1]
        except subprocess.TimeoutExpired:
            self.kill()
            return f"no end within {mock.PATIENCE_S} s"
        lines = said.strip().splitlines() or ["no word"]
        return f"exit code {self.process.returncode}: {lines[-1]}" if self.process.returncode else None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Case:
    """One case while it runs: it starts mocks and a client, and keeps what they leave behind."""

    def __init__(self, args, key, title):
        self.args, self.key, self.title = args, key, title
        self.mocks = []
        self.verdict, self.why, self.numbers = "ok", "", None

    def mock(self, script=None, port=0, tls=False):
        name = f"{self.key}.{len(self.mocks) + 1}"
        started = mock.Mock(self.args.mock, self.args.folder, name, script, port, tls)
        self.mocks.append(started)
        return started

    def client(self, program, *arguments):
        return Client(self.args.python, program, *arguments)

    def drive(self, program, script=None, tls=False):
        """One client from start to end against one mock."""
        with self.mock(script, tls=tls) as m, self.client(program, m.address, *([m.ca] if tls else [])) as client:
            complaint = client.end()
            m.stop()
        if complaint:
            raise judge.Wrong(f"the client failed: {complaint}")
        return m

    def run(self, body):
        try:
            body(self)
        except judge.Wrong as wrong:
            self.verdict, self.why = "WRONG", str(wrong)
        except mock.Trouble as trouble:
            self.verdict, self.why = "not judged", str(trouble)
        if all(m.process.returncode == 0 for m in self.mocks):
            self.numbers = judge.Numbers(self.mocks)


# ---- the cases ------------------------------------------------------------------------------

def first_page(case):
    started_ns = time.time_ns()
    m = case.drive("first_page.py")
    judge.first_page(m.rows(), started_ns, time.time_ns())


def many(case):
    m = case.drive("many_rows.py")
    judge.many_rows(m.rows(), doubles_allowed=False)


def over_tls(case):
    m = case.drive("many_rows.py", tls=True)
    if not any(e["version"] == "1.3" for e in m.events("tls")):
        raise mock.Trouble("no handshake was completed")
    judge.many_rows(m.rows(), doubles_allowed=False)


def reset(case):
    m = case.drive("many_rows.py", "server:\n- {connection: 1, reset: {at_frame: 5}}\n- {connection: 2}\n")
    ends = [e["how"] for e in m.events("end") if e.get("conn") == 1]
    if ends != ["script reset"]:
        raise mock.Trouble(f"connection 1 was not reset, it ended so: {ends}")
    judge.many_rows(m.rows(), doubles_allowed=True)


def restart(case):
    """The first mock reads nothing behind frame 20, so the client cannot be done when it is stopped."""
    last = 20
    with case.mock(f"server:\n- {{connection: 1, stall: {{at_frame: {last}}}}}\n") as first:
        with case.client("many_rows.py", first.address) as client:
            first.wait_for(lambda e: e.get("event") == "frame" and e["seq"] == last - 1)
            first.stop()
            with case.mock(port=first.port) as second:
                complaint = client.end()
                second.stop()
    if complaint:
        raise judge.Wrong(f"the client failed: {complaint}")
    before, behind = first.rows(), second.rows()
    if not before or len(before) > last * rule.ROWS_A_FLUSH:
        raise mock.Trouble(f"the server was stopped at the wrong time: {len(before)} rows were there")
    judge.many_rows(before + behind, doubles_allowed=True)


CASES = [
    ("first-page", "the client's first page", first_page),
    ("many", f"{rule.ROWS} rows, {rule.ROWS_A_FLUSH} a flush", many),
    ("tls", "the same, over TLS", over_tls),
    ("reset", "the same, RST after frame 5", reset),
    ("restart", "the same, server stopped and started", restart),
]


# ---- what a person sees, and a machine ----------------------------------------------------------

def heading():
    print(f"{'':38}{'rows':>7}{'frames':>8}{'connections':>13}{'readers':>9}{'violations':>12}   verdict")


def line(case):
    n = case.numbers
    counts = (f"{n.rows:7}{n.frames:8}{n.connections:13}{n.readers:9}{sum(n.violations.values()):12}"
              if n else f"{'-':>7}{'-':>8}{'-':>13}{'-':>9}{'-':>12}")
    print(f"{case.title:38}{counts}   {case.verdict}", flush=True)
    if case.why:
        print(f"    {case.why}\n    journals and rows: {case.args.folder}/{case.key}.*", flush=True)


def violations(cases):
    total, text = {}, {}
    for n in (c.numbers for c in cases if c.numbers):
        for requirement, count in n.violations.items():
            total[requirement] = total.get(requirement, 0) + count
            text.setdefault(requirement, n.texts[requirement])
    if not total:
        print("\nno violation of the protocol was noted")
        return total
    print("\nviolations noted (reported, not failed)")
    for requirement in sorted(total):
        print(f"  {requirement:24}{total[requirement]:7}   {text[requirement]}")
    return total


def write_json(path, package, cases, total):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({
        "package": package,
        "violations": total,
        "cases": [{"case": c.key, "verdict": c.verdict, "why": c.why,
                   **({"rows": c.numbers.rows, "frames": c.numbers.frames, "connections": c.numbers.connections,
                       "readers": c.numbers.readers, "violations": dict(c.numbers.violations)} if c.numbers else {})}
                  for c in cases],
    }, indent=1) + "\n")


def package_name(python):
    """"questdb 6.0.0", as that Python has it."""
    asked = subprocess.run([python, "-c", "import importlib.metadata as m; print('questdb', m.version('questdb'))"],
                           capture_output=True, text=True)
    return asked.stdout.strip() if asked.returncode == 0 else None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mock", default=str(ROOT / "build/bin/qwp-mock"), help="the server (build/bin/qwp-mock)")
    parser.add_argument("--python", default=str(ROOT / "build/interop/venv/bin/python"),
                        help="a Python with the package (build/interop/venv/bin/python)")
    parser.add_argument("--folder", default=str(ROOT / "build/interop"), help="for journals and rows (build/interop)")
    parser.add_argument("--json", type=pathlib.Path, help="the same figures as JSON")
    parser.add_argument("--only", choices=[key for key, _, _ in CASES], help="run one case")
    return parser.parse_args()


def main():
    args = arguments()
    pathlib.Path(args.folder).mkdir(parents=True, exist_ok=True)
    package = package_name(args.python)
    if not package or not pathlib.Path(args.mock).exists():
        print(f"run.py: {args.mock if package else args.python}: "
              f"{'not built' if package else 'has no package questdb'}", file=sys.stderr)
        return 3
    print(f"{package} against qwp-mock")
    heading()
    cases = []
    for key, title, body in CASES:
        if args.only in (None, key):
            cases.append(Case(args, key, title))
            cases[-1].run(body)
            line(cases[-1])
    total = violations(cases)
    if args.json:
        write_json(args.json, package, cases, total)
    verdicts = {c.verdict for c in cases}
    return 1 if "WRONG" in verdicts else 3 if "not judged" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
