"""Keys of two processes: both begin at the same moment, against one mock that knows the first mask keys and the upgrade
keys of all its connections (CASE-49, WS-001, UPG-REQ-001)."""
import base64
import json
import pathlib
import signal
import socket
import subprocess

import pytest


@pytest.fixture
def mock(request, tmp_path):
    """A running qwp-mock: its port, and a call that ends it and gives its figures."""
    folder = pathlib.Path(request.config.getoption("--build")).resolve() / "bin"
    figures = tmp_path / "figures.json"
    with subprocess.Popen([folder / "qwp-mock", "--port", "0", "--json", figures], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        port = next(line for line in process.stdout if line.startswith("ready ")).split(":")[-1].strip()

        def end():
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)
            return json.loads(figures.read_text())

        yield folder, int(port), end
        process.kill()


def test_two_processes_at_once_draw_different_keys(mock):
    folder, port, end = mock
    command = [folder / "qwp-send", "-q", "--schema", "tiny", "--rows", "2000", "--flush", "1",
               f"ws::addr=127.0.0.1:{port};"]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    figures = end()
    counters = figures["counters"]
    assert (counters["srv.conns"], counters["srv.frames"], figures["violations"]) == (2, 4000, [])


def say(port, key, mask):
    """A client that is not random: an upgrade, two Pongs, and the end."""
    head = f"GET /write/v4 HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
           f"Sec-WebSocket-Version: 13\r\nX-QWP-Max-Version: 1\r\nSec-WebSocket-Key: {key}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as peer:
        peer.sendall(head.encode())
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += peer.recv(4096)
        peer.sendall(b"\x8a\x80" + mask[:4] + b"\x8a\x80" + mask[4:])
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(4096):
            pass


@pytest.mark.parametrize("same_key, same_mask, noted", [(False, False, []), (True, False, ["UPG-REQ-001"]),
                                                        (False, True, ["WS-001"])])
def test_the_mock_sees_what_two_processes_have_in_common(mock, same_key, same_mask, noted):
    _, port, end = mock
    for number in range(2):
        key = base64.b64encode(bytes(16 if same_key else [number] * 16)).decode()
        say(port, key, b"abcdefgh" if same_mask else bytes(range(8 * number, 8 * number + 8)))
    assert [violation["requirement"] for violation in end()["violations"]] == noted
