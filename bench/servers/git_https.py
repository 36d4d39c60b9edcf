"""Git over HTTPS as a host serves it: `git http-backend` behind a small server, with a certificate made for it.

Runs as a process of its own: `python -m bench.servers.git_https <folder> <certificate and key>` serves the bare
repositories in the folder to everybody, for reading and writing.
"""

import os
import ssl
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from bench.environment import run
from bench.servers.process import Process

SERVING: Final = "serving on "
HOST: Final = "127.0.0.1"


def certificate(folder: Path) -> Path:
    """A file with a new key and its certificate for this machine; raises Missing without openssl."""
    made = folder / "server.pem"
    subject = ("-subj", "/CN=bench", "-addext", f"subjectAltName=IP:{HOST}")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", made)
    run("openssl", "req", "-x509", *key, "-out", folder / "certificate.pem", "-days", "2", *subject)
    made.write_text(made.read_text() + (folder / "certificate.pem").read_text())
    return made


def start(folder: Path, made: Path) -> Process:
    """Serves the repositories of `folder`; its address holds the port."""
    command = [sys.executable, "-m", "bench.servers.git_https", str(folder), str(made)]
    here = Path(__file__).resolve().parents[2]
    server = Process(command, folder / "git-https.log", env={"PYTHONPATH": str(here)})
    server.wait_until(lambda: SERVING in server.output() and server.output().endswith("\n"))
    server.address = {"port": int(server.output().partition(SERVING)[2])}
    return server


class Backend(BaseHTTPRequestHandler):
    """One request by one `git http-backend`."""

    protocol_version = "HTTP/1.1"  # a client keeps its connection, as with any host
    folder: Path

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        asked, body = urlsplit(self.path), self._body()
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "bench",  # who is known may write
            "REQUEST_METHOD": self.command,
            "PATH_INFO": unquote(asked.path),
            "QUERY_STRING": asked.query,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = [line.partition(": ")[::2] for line in head.decode("latin-1").split("\r\n") if line]
        status = next((value for name, value in fields if name.lower() == "status"), "200 OK")
        self.send_response_only(int(status.split()[0]))
        for name, value in fields:
            if name.lower() != "status":
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        pieces = bytearray()
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(pieces)


def main() -> None:
    Backend.folder = Path(sys.argv[1])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server = ThreadingHTTPServer((HOST, 0), Backend)
    # The handshake is done by the thread that serves the connection: a slow one holds up nobody.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(f"{SERVING}{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
