#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs of program.cpp, and what others ask about them: a server, a client, and between them a relay
# that keeps what it passes on. By itself it is how the build measures the instrumented program:
#
# Usage: measure.py PROGRAM SERVER_PROFILE CLIENT_PROFILE

import contextlib
import socket
import subprocess
import sys
import threading

CALLS = 2000


@contextlib.contextmanager
def server(program, *options):
    """A running server: its port and the key of its object."""
    process = subprocess.Popen([program, "serve", "-ORBListenEndpoints", "iiop://127.0.0.1",
                                *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline().split()
        if len(line) != 2:
            raise RuntimeError(f"{program}: no address: {line}")
        yield int(line[0]), bytes.fromhex(line[1])
    finally:
        process.stdin.close()
        status = process.wait(timeout=60)
        process.stdout.close()
    if status != 0:
        raise RuntimeError(f"{program} serve: status {status}")


def client(program, port, key, *options, calls=CALLS, command="call"):
    url = f"corbaloc:iiop:1.2@127.0.0.1:{port}/" + "".join(f"%{octet:02x}" for octet in key)
    return subprocess.run([program, command, url, str(calls), *options], text=True,
                          capture_output=True, check=False, timeout=60)


def pump(source, target, kept):
    while octets := source.recv(1 << 16):
        kept += octets
        target.sendall(octets)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def relay(port):
    """A port that leads to another, for one connection, and what went each way."""
    sent, answered = bytearray(), bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            near, _ = listener.accept()
            with near, socket.create_connection(("127.0.0.1", port)) as far:
                back = threading.Thread(target=pump, args=(far, near, answered))
                back.start()
                pump(near, far, sent)
                back.join()
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1], sent, answered
        thread.join()


def messages(program):
    """Every byte that client and server of the program exchange; keys of objects differ in time."""
    with server(program) as (port, key), relay(port) as (relayed, sent, answered):
        result = client(program, relayed, key, calls=3)
    if result.returncode != 0:
        raise RuntimeError(f"{program} call: {result.stderr}")
    return bytes(sent).replace(key, b"K" * len(key)), bytes(answered)


def main():
    program, server_profile, client_profile = sys.argv[1:]
    with server(program, "-ORBProfileTypes", server_profile) as (port, key):
        result = client(program, port, key, "-ORBProfileTypes", client_profile)
    print(result.stderr, end="")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
