"""qwp-mock as a process: started, followed through its journal, ended by its id, and asked for its rows."""
import json
import pathlib
import signal
import subprocess
import threading
import time

PATIENCE_S = 60  # never a measure: only the end of a wait for something that does not come


class Trouble(Exception):
    """Harness or environment: nothing was judged."""


class Mock:
    """One life of the server. `folder` keeps its journal and rows, named after `name`, and with `tls` its CA."""

    def __init__(self, program, folder, name, script=None, port=0, tls=False):
        self.journal_path = pathlib.Path(folder) / f"{name}.journal.jsonl"
        self.rows_path = pathlib.Path(folder) / f"{name}.rows.jsonl"
        for path in (self.journal_path, self.rows_path):
            path.unlink(missing_ok=True)
        command = [program, "--port", str(port), "--rows", "full", "--journal", self.journal_path,
                   "--journal-level", "full", "--rows-out", self.rows_path]
        self.ca = pathlib.Path(folder) / f"{name}.ca.pem"
        if tls:
            command += ["--tls", "--ca-out", self.ca]
        if script:
            script_path = pathlib.Path(folder) / f"{name}.script.yaml"
            script_path.write_text(script)
            command += ["--script", script_path]
        self.name = name
        self.log = (pathlib.Path(folder) / f"{name}.log").open("w+")
        self.process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.port = self._ready()

    def _ready(self):
        guard = threading.Timer(PATIENCE_S, self.process.kill)
        guard.start()
        line = self.process.stdout.readline()
        guard.cancel()
        if not line.startswith("ready 127.0.0.1:"):
            self.kill()
            raise Trouble(f"qwp-mock did not become ready: {line.strip()} {self._said()}")
        return int(line.rsplit(":", 1)[1])

    def _said(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()[-500:].strip()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def wait_for(self, wanted):
        """Follows the journal until an event satisfies `wanted`, and returns it."""
        end = time.monotonic() + PATIENCE_S
        rest = ""
        with self.journal_path.open() as journal:
            while time.monotonic() < end:
                rest += journal.read()
                *lines, rest = rest.split("\n")
                for line in lines:
                    event = json.loads(line)
                    if wanted(event):
                        return event
                if self.process.poll() is not None:
                    raise Trouble(f"qwp-mock ended with {self.process.returncode}: {self._said()}")
                time.sleep(0.005)  # the pace of looking, no part of the verdict
        raise Trouble("the event that was waited for is not in the journal")

    def stop(self):
        """SIGTERM, and the clean end that it owes."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Trouble("qwp-mock does not end on SIGTERM") from None
        if self.process.returncode != 0:
            raise Trouble(f"qwp-mock ended with {self.process.returncode}: {self._said()}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.log.close()

    # ---- what it leaves behind, once stopped ----

    def events(self, kind=None):
        with self.journal_path.open() as journal:
            return [e for e in map(json.loads, journal) if kind in (None, e.get("event"))]

    def rows(self):
        """All visible rows in order of arrival."""
        with self.rows_path.open() as rows:
            return [json.loads(line) for line in rows]
