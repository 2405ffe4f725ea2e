"""10 000 rows of symbol, double, long and timestamp, 100 rows a flush, the rows of rule.py; ends when the server has
acknowledged all of them. Run with the Python of the virtual environment: many_rows.py HOST:PORT
"""
import sys

import questdb
from questdb import TimestampMicros, TimestampNanos

import rule

# Explicit flushes only, so that one flush is one frame.
with questdb.connect(f"ws::addr={sys.argv[1]};auto_flush=off;") as db:
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
