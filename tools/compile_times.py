#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A user's view of docs/building.md: run by hand against an install tree, on a quiet machine.
"""Measures what it costs to compile programs of Kairos, beside the same programs of omniORB.

usage: compile_times.py --prefix PREFIX [--cxx CXX] [--rounds N] [--only ROW]… [--check]

PREFIX is where Kairos was installed. Every figure is CPU seconds of all processes; rounds of the
two systems alternate, and the ratio is the median of the rounds' ratios. With --check the exit
status is 1 when a bar is missed. Needs omniidl, its IDL and its headers (omniidl, omniorb-idl,
libomniorb4-dev, libcos4-dev).
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
OMG_IDL = pathlib.Path("/usr/share/idl/omniORB")
OMG_OPTIONS = ["-I", str(OMG_IDL), "-I", str(OMG_IDL / "COS")]
OMNI_FLAGS = ["-D__OMNIORB4__", "-D_REENTRANT", "-I/usr/include/COS", "-I/usr/include/omniORB4"]
# omniORB's C++ for these comes with it.
PREDEFINED = {"bootstrap.idl", "boxes.idl", "corbaidl.idl", "omniTypedefs.idl", "pollable.idl",
              "poa.idl", "poa_enums.idl", "ir.idl", "iiop.idl", "giop.idl"}

OMNI_SERVER = r"""
#include "hello.hh"
#include <iostream>
#include <string>
class Greeter : public POA_Hello {
  public:
    char* greet(const char* name)
    {
        return CORBA::string_dup(("Hello, " + std::string(name) + "!").c_str());
    }
};
int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::Servant_var<Greeter> greeter = new Greeter;
    Hello_var hello = greeter->_this();
    CORBA::String_var reference = orb->object_to_string(hello);
    std::cout << reference << std::endl;
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    orb->run();
} catch (const CORBA::Exception& exception) {
    std::cerr << "hello_server: " << exception._name() << '\n';
    return 1;
}
"""
OMNI_CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(Hello LANGUAGES CXX)
add_custom_command(OUTPUT hello.hh helloSK.cc COMMAND omniidl -bcxx ${CMAKE_SOURCE_DIR}/hello.idl
    DEPENDS hello.idl)
add_library(hello_idl STATIC helloSK.cc hello.hh)
target_include_directories(hello_idl PUBLIC ${CMAKE_BINARY_DIR})
target_compile_definitions(hello_idl PUBLIC __OMNIORB4__ _REENTRANT)
target_link_libraries(hello_idl PUBLIC omniORB4 omnithread pthread)
foreach(role server client)
    add_executable(hello_${role} ${role}.cpp)
    target_link_libraries(hello_${role} PRIVATE hello_idl)
endforeach()
"""


def cpu_seconds(command, directory):
    """Runs the command to its end; its CPU seconds with all that it starts."""
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], cwd=directory, env=environment,
                          capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        said = done.stdout[-2000:] + done.stderr[-2000:]
        raise SystemExit(f"{' '.join(map(str, command))}\n{said}")
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


class Hello:
    """README's hello, built by CMake after it was configured."""

    name, bar = "hello, cmake --build", 1.5

    def prepare(self, work, arguments):
        self.trees = {}
        for system in ("kairos", "omniorb"):
            source, build = work / f"hello-{system}", work / f"hello-{system}-build"
            shutil.copytree(ROOT / "examples/hello", source)
            if system == "omniorb":
                (source / "CMakeLists.txt").write_text(OMNI_CMAKE)
                (source / "server.cpp").write_text(OMNI_SERVER)
                client = (source / "client.cpp").read_text()
                (source / "client.cpp").write_text(
                    client.replace('"hello.h"', '"hello.hh"').replace(".what()", "._name()"))
            cpu_seconds(["cmake", "-S", source, "-B", build, "-G", "Ninja",
                         f"-DCMAKE_PREFIX_PATH={arguments.prefix}",
                         f"-DCMAKE_CXX_COMPILER={arguments.cxx}",
                         "-DCMAKE_BUILD_TYPE=Release"], work)
            self.trees[system] = build

    def measure(self, system, _arguments):
        build = self.trees[system]
        cpu_seconds(["cmake", "--build", build, "--target", "clean"], build)
        return cpu_seconds(["cmake", "--build", build, "-j1"], build)


class Header:
    """A file that includes nothing but a generated header."""

    bar = 2.0

    def __init__(self, name, ours):
        self.name, self.ours = name, ours

    def prepare(self, work, arguments):
        self.directory = work / self.ours
        self.directory.mkdir()
        shutil.copy(ROOT / "examples/hello/hello.idl", self.directory)
        cpu_seconds([arguments.prefix / "bin/kairos-idl", "hello.idl"], self.directory)
        cpu_seconds(["omniidl", "-bcxx", "hello.idl"], self.directory)
        (self.directory / "kairos.cpp").write_text(f'#include "{self.ours}"\n')
        (self.directory / "omniorb.cpp").write_text('#include "hello.hh"\n')

    def measure(self, system, arguments):
        flags = [f"-I{arguments.prefix}/include"] if system == "kairos" else OMNI_FLAGS
        return cpu_seconds([arguments.cxx, "-std=c++20", "-O2", *flags, "-I.", "-c",
                            f"{system}.cpp", "-o", "/dev/null"], self.directory)


class OmgIdl:
    """Every IDL file of the OMG's that both systems take: generated, and all of it compiled."""

    name, bar = "OMG IDL, generated and compiled", 1.3

    def prepare(self, work, arguments):
        self.directory = work / "omg"
        self.directory.mkdir()
        modules = sorted(path.stem for path in arguments.prefix.glob("lib*/**/kairos*.pc"))
        found = {"PKG_CONFIG_PATH": str(arguments.prefix / "lib/pkgconfig"), **os.environ}
        self.flags = subprocess.run(["pkg-config", "--cflags", *modules], env=found, text=True,
                                    capture_output=True, check=True).stdout.split()
        files = sorted([*OMG_IDL.glob("*.idl"), *(OMG_IDL / "COS").glob("*.idl")])
        self.files = [path for path in files
                      if path.name not in PREDEFINED and self.both_take(path, arguments)]
        for name in PREDEFINED: # what others include
            subprocess.run(self.generate("kairos", OMG_IDL / name, arguments), cwd=self.directory,
                           capture_output=True, check=False)

    def both_take(self, path, arguments):
        takes = [subprocess.run(command, cwd=self.directory, capture_output=True, check=False)
                 for command in (self.generate("kairos", path, arguments),
                                 self.generate("omniorb", path, arguments))]
        return all(done.returncode == 0 for done in takes)

    def generate(self, system, path, arguments):
        if system == "omniorb":
            return ["omniidl", "-bcxx", "-Wba", *OMG_OPTIONS, str(path)]
        return [str(arguments.prefix / "bin/kairos-idl"), *OMG_OPTIONS,
                "-I", str(arguments.prefix / "share/kairos/idl"), str(path)]

    def measure(self, system, arguments):
        """All files; what omniORB, measured first, generates but cannot compile is left out."""
        total = 0.0
        for path in list(self.files):
            seconds = self.measure_file(system, path, arguments)
            if seconds is None:
                self.files.remove(path)
                print(f"left out, for omniORB cannot compile it: {path.name}", flush=True)
            else:
                total += seconds
        return total

    def measure_file(self, system, path, arguments):
        total = cpu_seconds(self.generate(system, path, arguments), self.directory)
        stem = path.stem
        flags, units = ((self.flags, [f"{stem}.cpp", f"{stem}_skel.cpp"]) if system == "kairos"
                        else (OMNI_FLAGS, [f"{stem}SK.cc", f"{stem}DynSK.cc"]))
        for unit in units:
            if (self.directory / unit).exists():
                try:
                    total += cpu_seconds([arguments.cxx, "-std=c++20", "-O2", "-I.", *flags, "-c",
                                          unit, "-o", "/dev/null"], self.directory)
                except SystemExit:
                    if system == "kairos":
                        raise
                    return None
        return total


def main():
    rows = [Hello(), Header("a file with a stub header", "hello.h"),
            Header("a file with a skeleton header", "hello_skel.h"), OmgIdl()]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", default=[], help="rows whose name has this")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    arguments.prefix = arguments.prefix.resolve()
    missed = False
    print(f"{'CPU seconds':<34} {'Kairos':>8} {'omniORB':>8} {'ratio':>6} {'bar':>5}")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            if arguments.only and not any(word in row.name for word in arguments.only):
                continue
            row.prepare(pathlib.Path(folder), arguments)
            rounds = [(row.measure("omniorb", arguments), row.measure("kairos", arguments))
                      for _ in range(1 if isinstance(row, OmgIdl) else arguments.rounds)]
            omniorb, kairos = (statistics.median(times) for times in zip(*rounds))
            ratio = statistics.median(ours / theirs for theirs, ours in rounds)
            missed |= ratio > row.bar
            print(f"{row.name:<34} {kairos:>8.2f} {omniorb:>8.2f} {ratio:>6.2f} {row.bar:>5.1f}"
                  f"{'  MISS' if ratio > row.bar else ''}", flush=True)
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
