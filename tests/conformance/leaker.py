"""A sender that loses something at every reconnect: `leaker.py MODE CONNECT-STRING`, until it is ended.

MODE is `nothing`, `descriptors` (one each time) or `memory` (64 KiB each time, and touched).
"""
import os
import re
import sys
import time

from liar import adapter

kept = []


def lose(mode):
    if mode == "descriptors":
        kept.append(os.open("/dev/null", os.O_RDONLY))
    if mode == "memory":
        kept.append(bytes([len(kept) % 255 + 1]) * 65536)


def send_until_lost(host, port, mode):
    connection = adapter.Connection(host, int(port))
    lose(mode)
    for k in range(1 << 30):
        connection.send(2, adapter.message(k))
        while connection.acked < k:
            connection.read()
        time.sleep(0.002)  # a pace, so that the server's memory stays small; nothing waits for it


def main(mode, config):
    host, port = re.search(r"addr=([^:;]+):(\d+)", config).groups()
    while True:
        try:
            send_until_lost(host, port, mode)
        except OSError:
            time.sleep(0.005)


if __name__ == "__main__":
    main(*sys.argv[1:])
