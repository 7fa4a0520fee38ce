#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Debian's package omniorb-doc has omniORB's example programs, as sources and built with omniORB.
# Here the sources are compiled unchanged on the layer, by kairos-idl called as omniidl, and run as
# their documentation says, against each other and against what was built with omniORB.
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(os.environ.get("OMNIORB_EXAMPLES", "/usr/lib/omniorb/examples"))
OMNIORB_IDL = "/usr/share/idl/omniORB"
SKIPPED = 77
LEAST = 35
SECONDS = 60

# Folder, IDL file, options of omniidl beside -bcxx -Wba. None: programs of threads alone.
INTERFACES = {
    "echo": ("echo.idl", ["-Wbtp"]),
    "call_back": ("echo_callback.idl", []),
    "bidir": ("echo_callback.idl", []),
    "anyExample": ("anyExample.idl", []),
    "ami": ("echo_ami.idl", ["-Wbami"]),
    "poa/implicit_activation": ("echo.idl", []),
    "poa/persistent_objref": ("echo.idl", []),
    "poa/servant_manager": ("echo.idl", []),
    "poa/threading": ("echo.idl", []),
    "poa/shortcut": ("shortcut.idl", ["-Wbshortcut"]),
    "valuetype/simple": ("value.idl", []),
    "ssl_echo": ("echo.idl", []),
    "ziop": ("echo.idl", []),
    "dii": None,
    "dsi": None,
    "thread": None,
    "boa": ("becho.idl", ["-WbBOA"]),
}
# There is no BOA, and omniidl says so; PollableSets take pollers of AMI alone.
CANNOT = {"boa/eg2_impl", "ami/echo_dii_pollable_set"}
FAILURES = []


def check(condition, text):
    if not condition:
        FAILURES.append(text)
        print("FAILED:", text, flush=True)


class Builder:
    def __init__(self, arguments):
        self.arguments = arguments
        self.work = arguments.work
        self.work.mkdir(parents=True, exist_ok=True)
        self.omniidl = self.work / "omniidl"
        if not self.omniidl.exists():
            self.omniidl.symlink_to(arguments.idl)
        self.source = source = pathlib.Path(__file__).resolve().parents[3]
        gen = arguments.build / "gen"
        self.flags = ["-std=c++20", "-O0", "-w", f"-I{self.work}",
                      f"-I{source}/kairos/compat/omniorb/include", f"-I{source}", f"-I{gen}",
                      *(f"-I{folder}" for folder in sorted((gen / "kairos").iterdir()))]
        libraries = arguments.libraries
        self.link = [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lkairos-omniorb",
                     "-lkairos-services", "-lkairos-dynamic", "-lkairos", "-lomnithread",
                     "-pthread"]
        self.stubs = {}
        self.run([arguments.compiler, *self.flags, "-x", "c++-header", "-o",
                  self.work / "layer.h.gch", self.header()])
        self.flags += ["-include", str(self.work / "layer.h")]

    def header(self):
        """Everything that all of them include, read once."""
        path = self.work / "layer.h"
        path.write_text("#include <omniORB4/CORBA.h>\n#include <omniORB4/Naming.hh>\n"
                        "#include <iostream>\n")
        return path

    def run(self, command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=300)
        if done.returncode != 0:
            raise RuntimeError(" ".join(str(word) for word in command[-3:]) + "\n" +
                               "\n".join(done.stderr.splitlines()[:8]))

    def stub(self, folder):
        """The object of what omniidl makes of the folder's interfaces; its folder."""
        if INTERFACES[folder] is None:
            return [], []
        idl, options = INTERFACES[folder]
        path = EXAMPLES / folder / idl
        if not path.exists():
            path = pathlib.Path(OMNIORB_IDL) / idl
        if not path.exists():
            path = pathlib.Path(__file__).parent / idl
        key = (path.read_text(), "-WbBOA" in options)
        if self.stubs.get(key) is None:
            output = self.work / f"idl{len(self.stubs)}"
            output.mkdir(exist_ok=True)
            self.run([self.omniidl, "-bcxx", "-Wba", *options, f"-I{OMNIORB_IDL}",
                      f"-I{self.source}/idl", "-C", output, path])
            objects = []
            for part in (f"{path.stem}SK", f"{path.stem}DynSK"):
                objects.append(output / f"{part}.o")
                self.run([self.arguments.compiler, *self.flags, f"-I{output}", "-c",
                          output / f"{part}.cc", "-o", objects[-1]])
            self.stubs[key] = ([f"-I{output}"], objects)
        return self.stubs[key]

    def build(self, source, folder):
        program = self.work / f"{folder.replace('/', '_')}-{source.stem}"
        include, objects = self.stub(folder)
        self.run([self.arguments.compiler, *self.flags, *include, source, *objects, *self.link,
                  "-o", program])
        return program


def build_one(builder, folder, source):
    """The program; None after a failure, which is reported unless it is known."""
    name = f"{folder}/{source.stem}"
    try:
        return name, builder.build(source, folder)
    except RuntimeError as error:
        check(name in CANNOT, f"{name} does not compile: {error}")
        return name, None


def build_all(builder):
    wanted = []
    for folder in INTERFACES:
        try:
            builder.stub(folder)
        except RuntimeError as error:
            check(f"{folder}/eg2_impl" in CANNOT, f"{folder}: {error}")
            continue
        wanted += [(folder, source) for source in sorted((EXAMPLES / folder).glob("*.cc"))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        built = pool.map(lambda each: build_one(builder, *each), wanted)
        return {name: program for name, program in built if program is not None}


def output_of(program, *arguments):
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True,
                          timeout=SECONDS)
    return done.stdout


class Server:
    """A program that prints a reference first."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([str(program), *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        self.reference = self.process.stdout.readline().strip().strip("'")
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()


ECHO = 'I said, "Hello!".\nThe Echo object replied, "Hello!".\n'
HOST = ["-ORBendPoint", "giop:tcp:127.0.0.1:"]
SERVERS = ["echo/eg2_impl", "poa/persistent_objref/eg2_impl",
           "poa/servant_manager/servant_locator", "poa/servant_manager/servant_activator",
           "dsi/echo_dsiimpl"]
ECHO_CLIENTS = ["echo/eg2_clt", "dii/echo_diiclt"]


def twin(name):
    """What was built with omniORB; None where the package does not have it."""
    path = EXAMPLES / name
    return path if path.exists() and os.access(path, os.X_OK) else None


def pairs(programs, server, client):
    """Both of ours, and each with the other's twin."""
    ours = programs.get(server), programs.get(client)
    if None in ours:
        return
    yield ours[0], ours[1], f"{server}, {client}"
    if twin(server):
        yield twin(server), ours[1], f"omniORB's {server}, {client}"
    if twin(client):
        yield ours[0], twin(client), f"{server}, omniORB's {client}"


def run_echoes(programs):
    for server in SERVERS:
        for client in ECHO_CLIENTS:
            for one, other, name in pairs(programs, server, client):
                with Server(one, *HOST) as running:
                    said = output_of(other, running.reference)
                check(said.startswith(ECHO) or 'replied, "Hello!"' in said, f"{name}: {said!r}")


def run_pollers(programs):
    """echo_callback waits for its reply without running the ORB, which Kairos wants."""
    for client, expected in (("ami/echo_poller", "The second call returned: Hello again async!"),
                             ("ami/echo_pollable_set", "No possible pollable.")):
        for one, other, name in pairs(programs, "echo/eg2_impl", client):
            with Server(one, *HOST) as running:
                said = output_of(other, running.reference)
            check(expected in said, f"{name}: {said!r}")


def run_any(programs):
    for one, other, name in pairs(programs, "anyExample/anyExample_impl",
                                  "anyExample/anyExample_clt"):
        with Server(one, *HOST) as running:
            said = output_of(other, running.reference)
        check(said.strip() and "Caught" not in said, f"{name}: {said!r}")


def run_callbacks(programs):
    for folder, prefix, server_options, client_options in (
            ("call_back", "cb", [], []),
            ("bidir", "bd",
             ["-ORBacceptBiDirectionalGIOP", "1", "-ORBserverTransportRule",
              "* unix,tcp,bidir"],
             ["-ORBofferBiDirectionalGIOP", "1", "-ORBclientTransportRule",
              "* unix,tcp,bidir"])):
        for one, other, name in pairs(programs, f"{folder}/{prefix}_server",
                                      f"{folder}/{prefix}_client"):
            with Server(one, *HOST, *server_options) as running:
                said = output_of(other, *HOST, *client_options, running.reference)
                check('call_back("Hello!")' in said and "Returned." in said, f"{name}: {said!r}")
                output_of(programs[f"{folder}/{prefix}_shutdown"], running.reference)
                rest = running.process.communicate(timeout=SECONDS)[0]
                check("Returned from orb->run()." in rest, f"{name}: {rest!r}")


def run_values(programs):
    for one, other, name in pairs(programs, "valuetype/simple/vserver",
                                  "valuetype/simple/vclient"):
        with Server(one, *HOST) as running:
            said = output_of(other, running.reference)
        check(said.strip() and "Caught" not in said, f"{name}: {said!r}")


def run_alone(programs):
    for name, expected in (("echo/eg1", ECHO), ("poa/implicit_activation/eg1", ECHO),
                           ("valuetype/simple/vcoloc", "")):
        if name not in programs:
            continue
        said = output_of(programs[name])
        check(said.strip() and expected in said, f"{name}: {said!r}")


def main():
    parser = argparse.ArgumentParser()
    for option in ("--compiler", "--idl"):
        parser.add_argument(option, required=True)
    for option in ("--libraries", "--build", "--work"):
        parser.add_argument(option, required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if not (EXAMPLES / "echo" / "eg1.cc").exists():
        print("skipped: Debian's package omniorb-doc is not installed")
        return SKIPPED
    programs = build_all(Builder(arguments))
    print(f"{len(programs)} of 38 programs compile")
    check(len(programs) >= LEAST, f"only {len(programs)} programs compile")
    run_alone(programs)
    run_echoes(programs)
    run_pollers(programs)
    run_any(programs)
    run_callbacks(programs)
    run_values(programs)
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
