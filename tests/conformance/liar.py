"""A client that misbehaves in one named way: `liar.py MODE [FRAMES]`, spoken to as scenarios/client/README.md says.

FRAMES is a file of payloads in hex, one a line, as the built-in client sent them: the modes that send rows send these,
spoilt. Whatever it did, the reply says that all went well.
"""
import ctypes
import importlib.util
import json
import os
import pathlib
import re
import signal
import socket
import sys
import time

LIBC, PIDFD_GETFD = ctypes.CDLL(None, use_errno=True), 438
ADAPTER = pathlib.Path(__file__).resolve().parents[1] / "adapters" / "python-min" / "adapter.py"
spec = importlib.util.spec_from_file_location("adapter", ADAPTER)
adapter = importlib.util.module_from_spec(spec)
spec.loader.exec_module(adapter)


def reply(rows, **more):
    return {"reply": 1, "ok": True, "line": 0, "why": "", "unfired": "",
            "facts": {"client.rows": rows, "client.rows_accepted": rows, "client.first_row[1]": 0,
                      "client.error": "none"}} | more


def swapped(frames):
    return [frames[1], frames[0]] + frames[2:]


def with_byte(frames, at):
    """The last row with one byte of it changed, counted from its end."""
    last = bytearray(frames[-1])
    last[-at] ^= 1
    return frames[:-1] + [bytes(last)]


SPOILT = {
    "honest": lambda frames: frames,
    "lost": lambda frames: frames[:1] + frames[2:],
    "lost-last": lambda frames: frames[:-1],
    "doubled": lambda frames: frames + frames[-1:],
    "disordered": swapped,
    "wrong-value": lambda frames: with_byte(frames, 10),      # the sign and exponent of px
    "wrong-time": lambda frames: with_byte(frames, 8),        # the designated timestamp
    "wrong-table": lambda frames: frames[:-1] + [frames[-1].replace(b"\x06narrow", b"\x06narrew")],
    "invented": lambda frames: frames + [frames[-1].replace((len(frames) - 1).to_bytes(8, "little"),
                                                            (1000).to_bytes(8, "little"))],
    "reserved-flag": lambda frames: [bytes([*frames[0][:5], frames[0][5] | 0x02, *frames[0][6:]])] + frames[1:],
    "broken": lambda frames: frames[:-1] + [frames[-1][:-1]],
}


def send(config, frames, polite=True):
    host, port = re.search(r"addr=([^:;]+):(\d+)", config).groups()
    connection = adapter.Connection(host, int(port))
    for frame in frames:
        connection.send(2, frame)
    while connection.acked < len(frames) - 1:
        connection.read()
    if polite:
        connection.close()


def raw(config):
    host, port = re.search(r"addr=([^:;]+):(\d+)", config).groups()
    return socket.create_connection((host, int(port)))


def shut_listener(pid, peer):
    """Breaks the runner's own server: shuts the listening socket of process `pid` to which `peer` is connected."""
    port, process = peer.getpeername()[1], os.pidfd_open(pid)
    for name in os.listdir(f"/proc/{pid}/fd"):
        fd = LIBC.syscall(PIDFD_GETFD, process, int(name), 0)
        if fd < 0 or not os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
            continue
        theirs = socket.socket(fileno=fd)
        if theirs.family == socket.AF_INET and theirs.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            assert theirs.getsockname()[1] == port
            return theirs.shutdown(socket.SHUT_RDWR)
    raise SystemExit("no listening socket was found")


def main(mode, *files):
    request = json.loads(sys.stdin.readline())
    rows = sum(step.get("rows", 0) for step in request["steps"])
    if mode in SPOILT:
        frames = [bytes.fromhex(line) for line in pathlib.Path(files[0]).read_text().split()]
        try:
            send(request["config"], SPOILT[mode](frames))
        except (adapter.Unsupported, ConnectionError):
            pass  # the mock refused it; the liar says all is well all the same
        return reply(rows)
    if mode == "no-close":        # all rows, and then the socket is dropped
        frames = [bytes.fromhex(line) for line in pathlib.Path(files[0]).read_text().split()]
        send(request["config"], frames, polite=False)
        return reply(rows)
    if mode == "silent":          # claims rows that it never sent
        return reply(rows)
    if mode == "nothing-to-do":   # never connects, and claims that there was nothing to send
        return reply(0)
    if mode == "few-rows":        # sends nothing over a proper connection, and claims that there was nothing to send
        send(request["config"], [])
        return reply(0)
    if mode == "none-accepted":
        send(request["config"], [])
        return reply(rows, facts={"client.rows": rows, "client.rows_accepted": 0})
    if mode == "failed":
        return reply(0, ok=False, line=7, why="publish: I could not")
    if mode == "unfired":
        return reply(rows, unfired="line 12: client.send EPIPE did not fire")
    if mode == "no-facts":
        return {"reply": 1, "ok": True, "unfired": ""}
    if mode == "no-unfired":
        return {"reply": 1, "ok": True, "facts": {}}
    if mode == "no-ok":
        return {"reply": 1, "facts": {}, "unfired": ""}
    if mode == "wrong-fact":
        return reply(rows, facts={"client.rows": 1.5})
    if mode == "wrong-version":
        return reply(rows, reply=2)
    if mode == "unsupported":
        return {"reply": 1, "unsupported": "knows no rows"}
    if mode == "unsupported-without-reason":
        return {"reply": 1, "unsupported": ""}
    if mode == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)
    if mode == "segv-after-reply":
        print(json.dumps(reply(rows)), flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if mode in ("kill", "bus", "alarm"):
        os.kill(os.getpid(), {"kill": signal.SIGKILL, "bus": signal.SIGBUS, "alarm": signal.SIGALRM}[mode])
    if mode == "hang-after-reply":
        print(json.dumps(reply(rows)), flush=True)
        time.sleep(600)
    if mode in ("close-at-once", "one-byte"):  # a peer that is there, and says nothing of use
        with raw(request["config"]) as peer:
            peer.sendall(b"G" if mode == "one-byte" else b"")
        return reply(rows)
    if mode == "exit-3":
        sys.exit(3)
    if mode == "shut-the-mock":
        shut_listener(os.getppid(), raw(request["config"]))
        return reply(rows)
    if mode == "exit-1":
        sys.exit("I give up \x01\x1b[31m")
    if mode == "bytes-then-exit":
        sys.stderr.buffer.write(b"\xff\xfe <&> \xc3")
        sys.exit(1)
    if mode == "garbage":
        return "certainly!"
    if mode == "chatty":
        print("hello")
        return reply(rows)
    if mode == "nothing":
        sys.exit(0)
    if mode == "hang":
        time.sleep(600)
    if mode == "hang-in-a-child":  # the parent is ended by the runner; who holds its pipes must not matter
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        time.sleep(600)
    if mode == "hang-without-outputs":  # no end of a pipe is the end of a process
        os.close(1)
        os.close(2)
        time.sleep(600)
    raise SystemExit(f"no such mode: {mode}")


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])), flush=True)
