"""qwp-mock leaves nothing behind, however it is ended."""
import os
import signal
import stat
import subprocess

import pytest


@pytest.fixture
def mock(runner, tmp_path):
    """Starts the mock over TLS with a folder for temporary files of its own; gives the process and the CA's file."""
    started = []

    def start(*args):
        process = subprocess.Popen([str(runner.program.parent / "qwp-mock"), "--tls", *args], stdout=subprocess.PIPE,
                                   text=True, env={**os.environ, "TMPDIR": str(tmp_path)})
        started.append(process)
        assert process.stdout.readline().startswith("ready 127.0.0.1:")
        return process, process.stdout.readline().split()[1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_ca_goes_with_the_server(mock, tmp_path, end):
    process, ca = mock()
    assert stat.S_IMODE(os.stat(ca).st_mode) == 0o600
    process.send_signal(end)
    assert process.wait(timeout=30) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_that_nobody_reads_is_no_place_for_the_ca(runner, tmp_path):
    pipe = tmp_path / "ca"
    os.mkfifo(pipe)
    done = subprocess.run([str(runner.program.parent / "qwp-mock"), "--tls", "--ca-out", str(pipe)], capture_output=True,
                          text=True, timeout=30)
    assert done.returncode == 3 and done.stderr == f"qwp-mock: --ca-out: {pipe}: No such device or address\n"
