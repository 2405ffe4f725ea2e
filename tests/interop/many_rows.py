"""10 000 rows of symbol, double, long and timestamp, 100 rows a flush, the rows of rule.py; ends when the server has
acknowledged all of them. Run with the Python of the virtual environment: many_rows.py HOST:PORT [CA]; with the CA, a PEM
file, over TLS.
"""
import sys

import questdb
from questdb import TimestampMicros, TimestampNanos

import rule

schema, trust = ("wss", f"tls_roots={sys.argv[2]};") if len(sys.argv) > 2 else ("ws", "")
# Explicit flushes only, so that one flush is one frame.
with questdb.connect(f"{schema}::addr={sys.argv[1]};{trust}auto_flush=off;") as db:
    with db.sender() as sender:
        for k in range(rule.ROWS):
            r = rule.row(k)
            sender.row(
                rule.TABLE,
                symbols={"sym": r["sym"]},
                columns={"px": r["px"], "id": r["id"], "us": TimestampMicros(r["us"])},
                at=TimestampNanos(r["timestamp"]))
            if (k + 1) % rule.ROWS_A_FLUSH == 0:
                sender.flush()
        sender.flush(wait=True)
