#!/usr/bin/python3
"""Serves the browser's folder on this machine alone and opens it: serve.py FOLDER TILEWALK [PORT].

POST ptx, from the page itself, turns a .cu into PTX where clang is: `tilewalk kernel FILE.cu --ptx`, which compiles it and
runs nothing of it.
"""
import http.server
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import webbrowser

SOURCE_MAX = 4 << 20


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, '.wasm': 'application/wasm', '.js': 'text/javascript'}

    def log_message(self, *_):
        pass

    def is_own(self):
        """Asked by this machine's own pages: another site's may neither compile nor read, nor a name that leads here."""
        own = {f'{host}:{self.server.server_port}' for host in ('127.0.0.1', 'localhost')}
        origin = self.headers.get('Origin') # a page names it with each POST
        return self.headers.get('Host') in own and (origin.removeprefix('http://') in own if origin else self.command != 'POST')

    def end_headers(self):
        self.send_header('Cache-Control', 'no-cache')
        super().end_headers()

    def answer(self, status, text):
        self.send_response(status)
        self.send_header('Content-Type', 'text/plain; charset=utf-8')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        if not self.is_own():
            return self.answer(403, b'for pages of this machine alone\n')
        if '\0' in self.translate_path(self.path):
            return self.answer(404, b'no file has such a name\n')
        return super().do_GET()

    def do_POST(self):
        length = int(self.headers.get('Content-Length') or 0)
        if not self.is_own():
            return self.answer(403, b'for pages of this machine alone\n')
        if self.path != '/ptx' or not self.server.tilewalk:
            return self.answer(404, b'nothing here compiles a .cu\n')
        if not 0 < length <= SOURCE_MAX:
            return self.answer(413, b'a .cu of at most 4 MiB\n')
        name = re.sub(r'[^\w.-]', '_', urllib.parse.unquote(self.headers.get('X-Name', 'mine.cu')))[-80:].lstrip('.-') or 'mine.cu'
        if not name.endswith(('.cu', '.cuh')):
            name += '.cu'
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, name)
            file.write_bytes(self.rfile.read(length))
            done = subprocess.run([self.server.tilewalk, 'kernel', str(file), '--ptx'], capture_output=True, timeout=400, check=False)
        if done.returncode:
            said = done.stderr.decode(errors='replace').removeprefix('tilewalk kernel: ').replace(str(folder) + '/', '')
            return self.answer(422, said.encode())
        return self.answer(200, done.stdout)


def main():
    folder, tilewalk = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    port = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else 8000
    try:
        server = http.server.ThreadingHTTPServer(('127.0.0.1', port), lambda *a: Handler(*a, directory=folder))
    except OSError as error:
        sys.exit(f'web-serve: port {port}: {error.strerror}; take another: make web-serve PORT={port + 1 if port < 65535 else 8000}')
    server.tilewalk = tilewalk if os.access(tilewalk, os.X_OK) else None
    address = f'http://127.0.0.1:{server.server_port}/'
    print(f'{address} until Control and C' + ('' if server.tilewalk else '; no .cu is compiled: there is no tilewalk here'), flush=True)
    if not os.environ.get('TILEWALK_NO_BROWSER'):
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


main()
