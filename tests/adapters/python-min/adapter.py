#!/usr/bin/python3
"""The smallest adapter: rows of the schema `tiny`, a frame each, over one connection that is not made again.

scenarios/client/README.md describes the two lines. What this client cannot do it says, with `unsupported`.
"""
import base64, json, os, re, socket, struct, sys

COUNTED = {"client.close", "client.error", "loop.sent", "ring.acked"}


class Unsupported(Exception):
    pass


def message(k):
    """One row of table "t": no new symbol, one row, one column, "i" LONG k without nulls."""
    payload = b"\x00\x00" + b"\x01t" + b"\x01\x01" + b"\x01i\x05" + b"\x00" + struct.pack("<q", k)
    return struct.pack("<4sBBHI", b"QWP1", 1, 0x08, 1, len(payload)) + payload


class Connection:
    """A WebSocket to /write/v4 (RFC 6455), and the highest answer that came over it."""

    def __init__(self, host, port):
        self.socket, self.left, self.acked = socket.create_connection((host, port)), b"", -1
        key = base64.b64encode(os.urandom(16)).decode()
        lines = ["GET /write/v4 HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "X-QWP-Max-Version: 1", "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.take(1)
        if not head.startswith(b"HTTP/1.1 101"):
            raise Unsupported("tries no second upgrade")

    def take(self, n):
        while len(self.left) < n:
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError("end of stream")
            self.left += more
        taken, self.left = self.left[:n], self.left[n:]
        return taken

    def send(self, opcode, payload):
        mask, n = os.urandom(4), len(payload)
        size = struct.pack(">BQ", 0xFF, n) if n > 65535 else struct.pack(">BH", 0xFE, n) if n > 125 else bytes([0x80 | n])
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode]) + size + mask + masked)

    def read(self):
        """One frame of the server; gives its opcode."""
        opcode, n = self.take(2)
        n = n if n < 126 else int.from_bytes(self.take(2 if n == 126 else 8), "big")
        payload = self.take(n)
        if opcode & 15 == 9:
            self.send(10, payload)
        elif opcode & 15 == 2 and payload[0] == 0:  # OK: it covers all up to its sequence
            self.acked = max(self.acked, struct.unpack_from("<q", payload, 1)[0])
        elif opcode & 15 == 2:
            raise Unsupported("handles no error answer")
        return opcode & 15

    def close(self):
        self.send(8, struct.pack(">H", 1000))
        while self.read() != 8:
            pass
        self.socket.close()


def check(request):
    """Refuses whatever is asked beyond plain rows."""
    keys = dict(pair.split("=", 1) for pair in request["config"].split("::", 1)[1].split(";") if pair)
    steps = request["steps"]
    refusals = [
        ("faults cannot be injected", request["faults"]),
        ("has no receiver", request["receiver"]),
        ("has one dictionary form", request["dense_dictionary"]),
        ("must not fail to start", request.get("create_error")),
        ("knows addr and auto_flush only", [k for k in keys if k != "addr" and not k.startswith("auto_flush")]),
        ("sends rows of schema tiny, a frame each, and drains", [
            s for s in steps if s["do"] not in ("publish", "drain") or "error" in s or s.get("timeout_ms")
            or s["do"] == "publish" and (s["schema"], s["flush"]) != ("tiny", "each")]),
        ("counts little", sorted(set(request["judged"]) - COUNTED)),
    ]
    for reason, found in refusals:
        if found:
            raise Unsupported(f"python-min {reason}: {json.dumps(found)}"[:240])
    return re.fullmatch(r"(.*):(\d+)", keys["addr"]).groups()


def run(request):
    host, port = check(request)
    connection, rows, firsts = Connection(host, int(port)), 0, []
    for step in request["steps"]:
        if step["do"] == "publish":
            firsts.append(rows)
            for k in range(rows, rows + step["rows"]):
                connection.send(2, message(k))
            rows += step["rows"]
        while step["do"] == "drain" and connection.acked < rows - 1:
            connection.read()
    connection.close()
    facts = {"client.rows": rows, "client.rows_accepted": rows, "client.close": "ok", "client.error": "none",
             "loop.sent": rows, "ring.acked": connection.acked}
    facts.update({f"client.first_row[{n}]": first for n, first in enumerate(firsts, 1)})
    return {"reply": 1, "ok": True, "line": 0, "why": "", "unfired": "", "facts": facts}


def main():
    request = json.loads(sys.stdin.readline())
    try:
        reply = run(request)
    except Unsupported as no:
        reply = {"reply": 1, "unsupported": str(no)}
    except ConnectionError as lost:
        reply = {"reply": 1, "unsupported": f"python-min makes no second connection: {lost}"}
    print(json.dumps(reply))


if __name__ == "__main__":
    main()
