"""What a case comes to: the rows of one mock, or of several that followed each other, against the rule."""
import collections

import rule


class Wrong(Exception):
    """A row is missing or wrong, or the client failed."""


def many_rows(rows, doubles_allowed):
    """Each row of the rule is there, each value right, first arrivals in order; one that came again is equal."""
    highest = -1
    seen = set()
    for r in rows:
        if r["table"] != rule.TABLE:
            raise Wrong(f"a row in table {r['table']}")
        k = r["values"].get("id")
        if not isinstance(k, int) or not 0 <= k < rule.ROWS:
            raise Wrong(f"a row with id {k}")
        if r["values"] != rule.row(k):
            raise Wrong(f"row {k}: expected {rule.row(k)}, seen {r['values']}")
        if k in seen and not doubles_allowed:
            raise Wrong(f"row {k} came twice, and no connection was lost")
        if k not in seen and k < highest:
            raise Wrong(f"row {k} came first after row {highest}")
        seen.add(k)
        highest = max(highest, k)
    missing = [k for k in range(rule.ROWS) if k not in seen]
    if missing:
        raise Wrong(f"{len(missing)} rows are missing, the first is {missing[0]}")


def first_page(rows, started_ns, ended_ns):
    """The one row of the page; its timestamp lies within the life of the program that sent it."""
    expected = {"symbol": "ETH-USD", "side": "sell", "price": 2615.54, "amount": 0.00044,
                "ord_book_bids": [2615.54, 2618.63]}
    if len(rows) != 1 or rows[0]["table"] != "trades":
        raise Wrong(f"expected one row in trades, seen {len(rows)} rows")
    values = dict(rows[0]["values"])
    at = values.pop("timestamp", None)
    if values != expected:
        raise Wrong(f"expected {expected}, seen {values}")
    if not isinstance(at, int) or not started_ns <= at <= ended_ns:
        raise Wrong(f"timestamp {at} is not between {started_ns} and {ended_ns}")


class Numbers:
    """Counts of a case, out of the journals of its mocks."""

    def __init__(self, mocks):
        self.rows = sum(len(m.rows()) for m in mocks)
        self.frames = sum(len(m.events("frame")) for m in mocks)
        upgrades = [e for m in mocks for e in m.events("upgrade")]
        self.connections = sum("reader" not in e for e in upgrades)
        self.readers = sum("reader" in e for e in upgrades)
        self.violations = collections.Counter()
        self.texts = {}
        for violation in (e for m in mocks for e in m.events("violation")):
            self.violations[violation["requirement"]] += 1
            self.texts.setdefault(violation["requirement"], violation["text"])
