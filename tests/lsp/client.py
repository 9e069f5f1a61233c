"""A small client of the language server, for tests: requests, and the messages that come in between."""
import json
import os
import select
import subprocess
import time


class Client:
    def __init__(self, warptime, *options, cwd=None):
        self.process = subprocess.Popen([warptime, "lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, cwd=cwd)
        self.buffer = b""
        self.next_id = 0
        self.notifications = []

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method, params=None):
        self.send({"method": method, "params": params if params is not None else {}})

    def ask(self, method, params=None):
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params if params is not None else {}})
        return self.next_id

    def read(self, patience=30.0):
        """The next message; None: none came in time. EOFError: the server has ended."""
        end = time.monotonic() + patience
        while True:
            header, separator, rest = self.buffer.partition(b"\r\n\r\n")
            if separator:
                length = int(header.split(b":")[1])
                if len(rest) >= length:
                    self.buffer = rest[length:]
                    return json.loads(rest[:length])
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise EOFError("the server ended with status %s: %s"
                               % (self.process.wait(), self.process.stderr.read().decode()))
            self.buffer += data

    def wait_for(self, wanted, patience=30.0):
        """The first message that `wanted` takes; the others are kept in `notifications`."""
        end = time.monotonic() + patience
        while True:
            message = self.read(max(0.0, end - time.monotonic()))
            if message is None:
                raise TimeoutError("nothing came in %g s" % patience)
            if wanted(message):
                return message
            self.notifications.append(message)

    def request(self, method, params=None, patience=30.0):
        number = self.ask(method, params)
        return self.wait_for(lambda message: message.get("id") == number and "method" not in message, patience)

    def initialize(self, options=None):
        params = {"processId": os.getpid(), "rootUri": None, "capabilities": {}}
        if options is not None:
            params["initializationOptions"] = options
        answer = self.request("initialize", params)
        self.notify("initialized")
        return answer["result"]

    def open(self, uri, text):
        self.notify("textDocument/didOpen",
                    {"textDocument": {"uri": uri, "languageId": "cuda-cpp", "version": 1, "text": text}})

    def change(self, uri, version, changes):
        self.notify("textDocument/didChange",
                    {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes})

    def lenses(self, uri, patience=30.0):
        answer = self.request("textDocument/codeLens", {"textDocument": {"uri": uri}}, patience)
        return [(one["range"]["start"]["line"] + 1, one["command"]["title"]) for one in answer["result"]]

    def wait_for_findings(self, uri, wanted=lambda findings: True, patience=30.0):
        message = self.wait_for(
            lambda one: one.get("method") == "textDocument/publishDiagnostics" and one["params"]["uri"] == uri
            and wanted(one["params"]["diagnostics"]), patience)
        return message["params"]["diagnostics"]

    def hover(self, uri, line):
        answer = self.request("textDocument/hover",
                              {"textDocument": {"uri": uri}, "position": {"line": line - 1, "character": 4}})
        return answer["result"]["contents"]["value"] if answer["result"] else ""

    def end(self):
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(20)
