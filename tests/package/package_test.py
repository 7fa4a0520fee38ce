#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The ctest `package`: installs the build tree into a prefix of its own, moves that prefix (an
# install tree must not remember where it was), looks at what is in it, and builds and runs projects
# against it outside both trees: project/ in the ways that users build (WAYS), README's examples. Of
# a build with sanitizers only the examples.

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
LIBRARIES = ["kairos", "kairos-dynamic", "kairos-realtime", "kairos-services", "kairos-events",
             "kairos-nats", "kairos-rtevents", "kairos-notification", "kairos-eventstore",
             "kairos-trading", "kairos-journal", "kairos-logs", "kairos-nameserver",
             "kairos-repository", "kairos-gateway", "kairos-tls", "kairos-access", "kairos-csiv2",
             "kairos-datagrams"]
LAYERS = ["kairos-omniorb", "kairos-tao"]  # for programs that were written for other ORBs

# What users may differ in, each of it in some way and most pairs of it in one: compiler, linker,
# C++, shared or static, assertions, sanitizer, what linkers do with what is not needed.
GCC, CLANG, LLD = "g++", "clang++-16", "-fuse-ld=lld"
AS_NEEDED = ["-Wl,--as-needed"]
ASSERTIONS = ["-O0", "-D_GLIBCXX_ASSERTIONS"]
WAYS = [
    # name, compiler, C++, options, linker options, static libraries?, shared IDL library?
    ("plain", GCC, 20, ["-O1", "-DNDEBUG"], [], False, False),
    ("static-lld", GCC, 23, ASSERTIONS, [LLD, "-Wl,--gc-sections"], True, False),
    ("clang-static", CLANG, 20, ["-O1", "-DNDEBUG"], [LLD], True, False),
    ("clang-bfd", CLANG, 23, ASSERTIONS, [], False, True),
    ("address", GCC, 20, [*ASSERTIONS, "-fsanitize=address"], [], False, True),
    ("now", GCC, 23, ["-O1", "-DNDEBUG", "-fno-plt"], ["-Wl,-z,now", *AS_NEEDED], False, True),
    ("clang-as-needed", CLANG, 20, ["-O1", "-flto=thin"], [LLD, *AS_NEEDED], False, True),
    ("static-address", CLANG, 20, ["-O1", "-fsanitize=address"], [LLD], True, False),
]
# These build the program that uses every library, too.
WITH_SERVICES = {"plain", "static-lld", "clang-as-needed"}

failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print(f"package: FAILED: {text}", flush=True)


def run(*command, timeout=120, **others):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.STDOUT, text=True, timeout=timeout, **others)


def must(*command, **others):
    """What it says; the test ends when it fails."""
    result = run(*command, **others)
    if result.returncode != 0:
        print(result.stdout)
        sys.exit(f"package: FAILED: {' '.join(str(part) for part in command)}")
    return result.stdout


def dynamic_section(path, tag):
    lines = must("readelf", "-dW", path).splitlines()
    return [re.search(r"\[(.*)\]", line).group(1) for line in lines if f"({tag})" in line]


# --- What is installed ---------------------------------------------------------------------------

# The names of the OMG's modules, of ours, and what Any's operators are.
VISIBLE = re.compile(r"(^|[^,] )(CORBA|PortableServer|IOP|Messaging|TimeBase|IORTable|RTCORBA|"
                     r"RTPortableServer|RTCosScheduling|Rtec\w+|DynamicAny|Dynamic|"
                     r"PortableInterceptor|PortableGroup|MIOP|BiDirPolicy|Cos\w+|Ds\w+|"
                     r"Kairos\w+|omni|omniIOR|omniObjRef|omniORB|"
                     r"omniPolicy|omniZIOP|sslContext|SSLIOP|TAO_\w+|kairos|POA_\w+|OBV_\w+)::|"
                     r"operator(<<|>>)=|"
                     r"^cdr\w*Stream\b|^IIOP::|^_(kairos_)?tc_(RtecEventData|EventPayload)$|"
                     r"^_CORBA_\w+$|"
                     r"^(TAO|tao)_\w+")
# In front of the name that a symbol is about.
ABOUT = re.compile(r"((non-)?virtual thunk to|covariant return thunk to|"
                   r"(typeinfo|typeinfo name|vtable|VTT|construction vtable|guard variable|"
                   r"TLS \w+ function) for) ")


def look_at_names(library):
    """Nothing is visible but what is meant for programs."""
    for line in must("nm", "-DC", "--defined-only", library).splitlines():
        name = re.match(r"[0-9a-f]* *\w (.*)", line).group(1)
        # Of a template its type comes first; what is behind the name are the types of parameters.
        about = ABOUT.sub("", name, 1).split("(")[0]
        check(VISIBLE.search(about), f"{library.name} shows {name}")


def version_of(build):
    cache = (build / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", cache, re.M).group(1)


def look_at_tree(prefix, build, sanitized):
    libdir = prefix / "lib"
    major, minor, _ = version_of(build).split(".")
    soversion = f"{major}.{minor}" if major == "0" else major
    for name in LIBRARIES + LAYERS:
        shared = libdir / f"lib{name}.so"
        soname = dynamic_section(shared, "SONAME")
        check(soname == [f"lib{name}.so.{soversion}"], f"{name}: SONAME {soname}")
        (path,) = dynamic_section(shared, "RUNPATH") # a sanitizer's run time has a folder, too
        check("$ORIGIN" in path.split(":") if sanitized else path == "$ORIGIN",
              f"{name}: RUNPATH {path}")
        archive = libdir / f"lib{name}.a"
        sections = must("readelf", "-SW", archive)
        check(".text" in sections and ".gnu.lto" not in sections, f"{archive.name}: no plain code")
        if not sanitized:
            look_at_names(shared)
    for folder in ("lib/cmake", "lib/pkgconfig", "include"):
        for path in (prefix / folder).rglob("*"):
            if path.is_file():
                text = path.read_text()
                for tree in (build, SOURCE / "kairos"):
                    check(f"{tree}/" not in text, f"{path} names {tree}")


# --- Projects outside ----------------------------------------------------------------------------

def configure_and_build(cmake, source, build, prefix, compiler, *options):
    must(cmake, "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
         f"-DCMAKE_CXX_COMPILER={compiler}", *options)
    must(cmake, "--build", build, timeout=600)


class Server:
    """A server that prints its reference, for the time of a with block."""

    def __init__(self, *command):
        self.process = subprocess.Popen([*command, "-ORBListenEndpoints", "iiop://127.0.0.1"],
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.reference = self.process.stdout.readline().strip()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def ours_of(program):
    """The libraries of ours that it says it needs."""
    return sorted(name.split(".")[0][3:] for name in dynamic_section(program, "NEEDED")
                  if name.startswith("libkairos"))


def run_way(way, arguments, prefix, work):
    name, compiler, standard, options, link_options, static, shared_idl = way
    if shutil.which(compiler) is None:
        check("CI" not in os.environ, f"{name}: {compiler} is not there")
        return f"{name}: skipped, no {compiler}"
    if compiler == GCC and LLD in link_options: # which only finds what is called ld.lld
        link_options = ["-B/usr/lib/llvm-16/bin", *link_options]
    build = work / name
    services = name in WITH_SERVICES
    configure_and_build(
        arguments.cmake, work / "project", build, prefix, compiler,
        "-DCMAKE_CXX_FLAGS=" + " ".join(options), f"-DCMAKE_CXX_STANDARD={standard}",
        "-DCMAKE_EXE_LINKER_FLAGS=" + " ".join(link_options),
        "-DCMAKE_SHARED_LINKER_FLAGS=" + " ".join(link_options),
        f"-DKairos_STATIC={int(static)}", f"-DSHOP_SHARED={int(shared_idl)}",
        f"-DSHOP_SERVICES={int(services)}")
    plain, asked = build / "plain", build / "asked"

    # What nobody uses is not linked; what is asked for is, though nothing names it.
    if static:
        check(ours_of(plain) == [], f"{name}: plain needs {ours_of(plain)}")
    else:
        check(ours_of(plain) == ["kairos"], f"{name}: plain needs {ours_of(plain)}")
        check(ours_of(asked) == ["kairos", "kairos-dynamic", "kairos-realtime"],
              f"{name}: asked needs {ours_of(asked)}")
    for program, real_time in ((plain, "no"), (asked, "yes")):
        said = run(program, "both").stdout
        check(said == f"ok, real time: {real_time}\n", f"{name}: {program.name} both: {said}")
    with Server(plain, "server") as server:
        if services:
            said = run(build / "services", server.reference, build / "names").stdout
            check(said == "ok\n", f"{name}: services: {said}")
            for program in ("route", "current"):
                said = run(build / program).stdout
                check(said == "ok\n", f"{name}: {program}: {said}")
            if not static:
                check(ours_of(build / "services") == sorted(LIBRARIES),
                      f"{name}: services needs {ours_of(build / 'services')}")
        said = run(asked, "client", server.reference, "close").stdout
        check(said == "ok, real time: yes\n", f"{name}: asked client: {said}")
        check(server.process.wait(60) == 0, f"{name}: the server's status")
    return f"{name}: built and run"


def by_pkg_config(arguments, prefix, work):
    """Without CMake: what pkg-config says is all that is needed."""
    if shutil.which("pkg-config") is None:
        check("CI" not in os.environ, "pkg-config is not there")
        return "pkg-config: skipped"
    environment = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))

    def ask(*question):
        return must("pkg-config", *question, env=environment).split()

    every = LIBRARIES + LAYERS
    check(ask("--modversion", *every) == [version_of(arguments.build)] * len(every),
          "pkg-config: versions")
    (compiler,) = ask("--variable=kairos_idl", "kairos")
    (idl,) = ask("--variable=idldir", "kairos")
    check(pathlib.Path(idl, "CosNaming.idl").is_file(), "pkg-config: idldir")
    folder = work / "pkg-config"
    folder.mkdir()
    shop = work / "project"
    must(compiler, "-o", folder, "-I", idl, shop / "shop.idl")
    objects = []
    for source in (folder / "shop.cpp", folder / "shop_skel.cpp", shop / "plain.cpp"):
        objects.append(folder / f"{source.stem}.o")
        must(arguments.compiler, "-std=c++20", *ask("--cflags", "kairos"), "-I", folder, "-c",
             source, "-o", objects[-1], timeout=600)
    for name, libraries in (
            ("shared", [*ask("--libs", "kairos"), f"-Wl,-rpath,{prefix}/lib"]),
            ("static", ["-Wl,-Bstatic", *ask("--libs", "kairos"), "-Wl,-Bdynamic",
                        *ask("--libs-only-other", "--static", "kairos")])):
        must(arguments.compiler, *objects, "-o", folder / name, *libraries)
        check(ours_of(folder / name) == (["kairos"] if name == "shared" else []),
              f"pkg-config: {name} needs {ours_of(folder / name)}")
        said = run(folder / name, "both").stdout
        check(said.startswith("ok"), f"pkg-config: {name}: {said}")
    return "pkg-config: built and run"


def by_compiler_lines(arguments, prefix, work):
    """Without anybody's help: one -I, one -L, and the names of the libraries."""
    folder = work / "lines"
    folder.mkdir()
    project, include = work / "project", prefix / "include"
    must(prefix / "bin/kairos-idl", "-o", folder, project / "route.idl")
    # Those of layers for other ORBs have their names, and are found in folders of their own.
    layers = sorted(include.glob("kairos-*"))
    check([path.name for path in layers] == LAYERS, f"layers: {layers}")
    for name, found in [("every", include), *((path.name, path) for path in layers)]:
        every = sorted(path.relative_to(found) for path in found.rglob("*.h")
                       if not path.relative_to(found).parts[0].startswith("kairos-"))
        (folder / f"{name}.cpp").write_text("".join(f"#include <{path}>\n" for path in every))
    for path in layers:
        must(arguments.compiler, "-std=c++20", "-fsyntax-only", "-I", path, "-I", include,
             folder / f"{path.name}.cpp", timeout=600)
    objects = {}
    for source in (folder / "route.cpp", folder / "route_skel.cpp", folder / "every.cpp",
                   project / "route.cpp", project / "current.cpp"):
        name = f"{source.parent.name}-{source.stem}"
        objects[name] = folder / f"{name}.o"
        must(arguments.compiler, "-std=c++20", "-O1", "-ffunction-sections", "-fdata-sections",
             "-I", include, "-I", folder, "-c", source, "-o", objects[name], timeout=600)
    route = [objects[name] for name in ("project-route", "lines-route", "lines-route_skel")]
    for program, parts, libraries in (
            ("route", route, ["-lkairos-realtime", "-lkairos-services", "-lkairos"]),
            ("current", [objects["project-current"]], ["-lkairos-realtime", "-lkairos"])):
        for kind, options, end in (
                ("shared", [f"-Wl,-rpath,{prefix}/lib", *AS_NEEDED], []),
                ("static", ["-Wl,--gc-sections", "-Wl,-Bstatic"], ["-Wl,-Bdynamic", "-pthread"])):
            path = folder / f"{program}-{kind}"
            must(arguments.compiler, *parts, "-o", path, *options, "-L", prefix / "lib",
                 *libraries, *end)
            needed = ours_of(path)
            check(needed == (sorted(name[2:] for name in libraries) if kind == "shared" else []),
                  f"lines: {path.name} needs {needed}")
            said = run(path).stdout
            check(said == "ok\n", f"lines: {path.name}: {said}")
    return "compiler lines: built and run"


def blocks_of(guide):
    """What stands in a page between ```language and ```, by language."""
    text = (SOURCE / "docs" / guide).read_text()
    return dict(re.findall(r"^```(make|cmake|sh)\n(.*?)^```$", text, re.M | re.S))


def by_guides(arguments, prefix, work):
    """Programs for other ORBs, built with what the guides say, word for word."""
    absent = [name for name in ("make", "pkg-config") if shutil.which(name) is None]
    if absent:
        check("CI" not in os.environ, f"guides: {absent} are not there")
        return "guides: skipped"
    environment = dict(os.environ, KAIROS=str(prefix), CXX=arguments.compiler, CXXFLAGS="-O0",
                       LD_LIBRARY_PATH=str(prefix / "lib"))
    for layer, options in (("omniorb", []), ("tao", ["-ORBDebugLevel", "2"])):
        blocks = blocks_of(f"from-{layer}.md")
        check({"make", "cmake"} <= set(blocks), f"guides: {layer} has {sorted(blocks)}")
        for way, text in blocks.items():
            folder = work / f"guide-{layer}-{way}"
            shutil.copytree(HERE / "guides" / layer, folder)
            if way == "make":
                (folder / "Makefile").write_text(text)
                must("make", "-C", folder, f"KAIROS={prefix}", env=environment, timeout=600)
            elif way == "sh":
                must("sh", "-ec", text, cwd=folder, env=environment, timeout=600)
            else:
                (folder / "CMakeLists.txt").write_text(text)
                configure_and_build(arguments.cmake, folder, folder, prefix, arguments.compiler)
            done = run(folder / "client", *options, env=environment)
            check(done.stdout.endswith("ok\n") and done.returncode == 0,
                  f"guides: {layer} by {way}: {done.stdout}")
    return "guides: built and run"


def examples(arguments, prefix, work):
    """README's hello; the client without a stub, and the server without a skeleton."""
    flags = arguments.sanitize
    for name in ("hello", "dynamic"):
        shutil.copytree(SOURCE / "examples" / name, work / f"{name}-source")
        configure_and_build(arguments.cmake, work / f"{name}-source", work / name, prefix,
                            arguments.compiler, f"-DCMAKE_BUILD_TYPE={arguments.build_type}",
                            f"-DCMAKE_CXX_FLAGS={flags}")
    server_program = work / "hello/hello_server"
    check(ours_of(server_program) == ["kairos"], f"hello_server needs {ours_of(server_program)}")
    for program in (server_program, work / "dynamic/dynamic_server"):
        with Server(program) as server:
            for client in ("hello/hello_client", "dynamic/dynamic_client"):
                said = run(work / client, server.reference).stdout
                check(said == "Hello, world!\n", f"{client} on {program.name}: {said}")
    return "examples: built and run"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--build-type", required=True)
    parser.add_argument("--sanitize", default="", help="what users' programs need, too")
    parser.add_argument("--only", help="one way")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        for component in ("runtime", "nameserver", "repository", "logs", "nats", "gateway",
                          "tls", "development", "compiler"):
            must(arguments.cmake, "--install", arguments.build, "--prefix", work / "first",
                 "--component", component)
        prefix = work / "prefix"
        (work / "first").rename(prefix)
        shutil.copytree(HERE / "project", work / "project")
        look_at_tree(prefix, arguments.build, arguments.sanitize)
        tasks = [(examples, arguments, prefix, work)]
        if not arguments.sanitize:
            tasks.append((by_pkg_config, arguments, prefix, work))
            tasks.append((by_compiler_lines, arguments, prefix, work))
            tasks.append((by_guides, arguments, prefix, work))
            tasks += [(run_way, way, arguments, prefix, work) for way in WAYS]
        if arguments.only:
            tasks = [task for task in tasks
                     if arguments.only == (task[1][0] if task[0] is run_way else task[0].__name__)]
        with ThreadPoolExecutor(2) as pool:
            for result in pool.map(lambda task: task[0](*task[1:]), tasks):
                print(f"package: {result}", flush=True)
    print("package: FAILED" if failures else "package: ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
