# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the fleet's tests share: programs that answer at a port, and targets that they scrape."""
import contextlib
import http.server
import socket
import subprocess
import time
import urllib.parse
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(url, timeout=600, **parameters):
    with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(parameters)}", timeout=timeout) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def server(command, url, log, seconds=300):
    """A program that answers at url, after so many seconds at most, while the context lasts."""
    with open(log, "a", encoding="utf-8") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            end = time.monotonic() + seconds
            while True:
                try:
                    fetch(url, timeout=5)
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > end:
                        raise SystemExit(f"{command[0]} does not start: see {log}") from None
                time.sleep(0.2)
            yield
        finally:
            process.terminate()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers in one piece, and logs nothing."""
    protocol_version = "HTTP/1.1"

    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin # http.server's
        pass


class Targets(http.server.ThreadingHTTPServer):
    """Many targets at one port of this machine."""
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)

    def handle_error(self, request, client_address):
        """A Prometheus that ends breaks off its scrapes."""
