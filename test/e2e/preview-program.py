"""A program as agents write them: pages, cookies, uploads, events that are sent as they happen, and a WebSocket that echoes."""

import base64
import hashlib
import http.server
import json
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        route = self.path.split("?")[0]
        if route == "/seen":
            self.reply(json.dumps({"path": self.path, "headers": {name.lower(): value for name, value in self.headers.items()}}))
        elif route == "/cookies":
            self.reply("", [
                ("Set-Cookie", "app=1; Path=/; Domain=localhost"), ("Set-Cookie", "other=2;DOMAIN = .localhost ; HttpOnly"),
                ("Set-Cookie", "tendon_preview=forged"), ("Clear-Site-Data", '"cookies"'), ("X-Own", "unchanged"),
            ])
        elif route == "/events":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"d\r\ndata: first\n\n\r\n")
            self.rfile.read(1)  # for ever: nobody says more
        elif route == "/nonsense":
            self.wfile.write(b"this is not HTTP\r\n\r\n")
            self.close_connection = True
        elif route == "/ws":
            self.websocket()
        else:
            self.reply("page " + self.path)

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        self.reply(hashlib.sha256(body).hexdigest())

    def reply(self, text, headers=()):
        body = text.encode()
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def websocket(self):
        accept = hashlib.sha1((self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         b"Set-Cookie: app=1; Domain=localhost\r\nSec-WebSocket-Accept: " + base64.b64encode(accept) + b"\r\n\r\n")
        while True:
            first, second = self.rfile.read(2)
            mask, data = self.rfile.read(4), self.rfile.read(second & 127)
            text = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
            self.wfile.write(bytes([first, len(text)]) + text)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1], "w") as file:
    file.write(str(server.server_address[1]))
server.serve_forever()
