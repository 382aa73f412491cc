"""The load client against two servers of known behaviour: it must tell them apart."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "load_client.py"


@contextlib.contextmanager
def streaming(*, one_after_another: bool):
    """A server that streams twenty words to each client, together or in turn."""
    turn = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            with turn if one_after_another else contextlib.nullcontext():
                for _ in range(20):
                    chunk = {"choices": [{"delta": {"content": "word "}}]}
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                    time.sleep(0.01)
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_): ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def load(url: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, "--url", url, "--clients", "4"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_streams_that_run_together_are_told_from_streams_that_wait_for_each_other():
    with streaming(one_after_another=False) as url:
        together = load(url)
    with streaming(one_after_another=True) as url:
        in_turn = load(url)
    assert together.returncode == 0, together.stdout
    assert in_turn.returncode == 1
    assert "all 4 were streaming for 0% of the time" in in_turn.stdout
    assert "80 pieces of text" in together.stdout


def test_a_server_that_is_not_there_is_one_line_a_client():
    result = load("http://127.0.0.1:9")
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 4
    assert "Traceback" not in result.stderr
