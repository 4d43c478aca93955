"""A server of tools that is spoken to over its input and output, one line of JSON each way. It counts its calls in a file."""

import json
import os
import sys
import time

TOOLS = [
    {"name": "add", "description": "Keep a note.", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {"name": "wait", "description": "Wait for a file.", "inputSchema": {"type": "object", "properties": {}}},
]


def call(name, arguments):
    with open("calls", "a") as calls:
        calls.write(name + "\n")
    if name == "wait":
        while not os.path.exists("go"):
            time.sleep(0.02)
    return {"content": [{"type": "text", "text": os.environ["NOTES_TOKEN"] + " stored " + str(arguments.get("text"))}]}


def answer(request):
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}))
    return {}


print("a line that is none of the protocol's", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}), flush=True)
