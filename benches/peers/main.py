"""See `run`."""

import argparse
import json
import os
import signal
import sys

import api_server
import lists
import nodes
import stream
import tables
from processes import Processes


def main():
    parser = argparse.ArgumentParser(prog="benches/peers/run")
    for flag in ["--binaries", "--podinit", "--directory"]:
        parser.add_argument(flag, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--recording", help="watch events of pods, one per line, as kubectl get pods -A -w -o json "
                        "--output-watch-events prints them through jq -c [default: those of a simulated cluster]")
    parser.add_argument("--pods", type=int, default=50_000, help="pods that stand before the recorded stream")
    parser.add_argument("--server-pods", type=int, default=5_000, help="pods that stand in the real API server")
    parser.add_argument("--seconds", type=int, default=15, help="length of each measurement")
    parser.add_argument("--only", choices=["stream", "server", "lists", "nodes"], help="one of the parts")
    parser.add_argument("--output", help="file for the figures as JSON")
    options = parser.parse_args()
    binaries = {name: os.path.join(options.binaries, name) for name in os.listdir(options.binaries)}
    binaries["podinit"] = options.podinit
    if not options.recording and options.only != "nodes":
        options.recording = os.path.join(options.directory, "recording.jsonl")
        stream.record(options.podinit, options.recording)
    processes = Processes(os.path.join(options.directory, "logs"))
    # What was started ends with this, also by SIGTERM.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    found = {}
    try:
        if options.only in (None, "stream"):
            found["stream"] = stream.measure(processes, binaries, options)
            print(tables.of_stream(found["stream"], options.pods), flush=True)
        if options.only in (None, "nodes"):
            found["nodes"] = nodes.measure(processes, binaries, options)
            print(tables.of_nodes(found["nodes"]), flush=True)
        if options.only not in ("stream", "nodes"):
            server = api_server.Server(processes, binaries, options)
        if options.only in (None, "server"):
            found["server"] = api_server.measure(server, processes, binaries, options)
            print(tables.of_server(found["server"]), flush=True)
        if options.only in (None, "lists"):
            found["lists"] = lists.measure(server, binaries, processes)
            print(tables.of_lists(found["lists"], options.server_pods), flush=True)
    finally:
        processes.stop_all()
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


main()
