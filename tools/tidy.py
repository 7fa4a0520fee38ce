#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The rules of the house that a compiler does not know: layers, include cycles, lengths, licence
# lines, banned words, dead files, leftovers. Reads the tree, prints "file:line: text", exits 1 when
# there is anything to print. `ctest -R tidy` and `make check` run it; tools/tidy_test.py tests it.
#
# docs/tidy-exceptions.txt lists what may break a rule, one a line, with the reason:
#     rule path [subject]: why this is right here
# A line that no finding needs any more is itself a finding.
import argparse
import dataclasses
import fnmatch
import functools
import os
import pathlib
import posixpath
import re
import subprocess
import sys

import lock_table

LAYERS = "docs/layers.txt"
EXCEPTIONS = "docs/tidy-exceptions.txt"
COLUMNS_MAX = 100
FILE_LINES_MAX = 1000
FUNCTION_LINES_MAX = 70
HEADER_COMMENT_LINES_MAX = 30

CXX = (".h", ".hh", ".cpp", ".cc", ".c")
HEADERS = (".h", ".hh")
SOURCES = (".cpp", ".cc", ".c")
SCRIPTS = (".py", ".sh", ".cmake")
# The OMG's API is defined in these modules and used in those that may use the last of them, and by
# programs; everywhere else names follow docs/STYLE.md.
OMG_MODULES = ("mapping", "types", "values", "corba")
PROGRAMS = ("tests/", "examples/", "bench/", "tools/")
# These two hold every banned word there is, as data.
SELF = ("tools/tidy.py", "tools/tidy_test.py")


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    text: str
    subject: str = ""

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text} [{self.rule}]"


# ---- text -------------------------------------------------------------------------------------

TOKEN = re.compile(
    r'R"(?P<mark>[^()\\\s]{0,16})\((?s:.*?)\)(?P=mark)"'
    r"|//[^\n]*"
    r"|/\*(?s:.*?)\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
)


def blank(text):
    """Spaces of the same shape, so that lines and columns stay where they are."""
    return re.sub(r"[^\n]", " ", text)


@functools.lru_cache(maxsize=None)
def code_of(text):
    """C++ text without comments, string contents and #include lines."""
    bare = TOKEN.sub(lambda match: blank(match[0]), text)
    return re.sub(r"^[ \t]*#[ \t]*include.*$", lambda match: blank(match[0]), bare,
                  flags=re.MULTILINE)


@functools.lru_cache(maxsize=None)
def comments_of(text):
    """The comments of C++ text with blanks for all else."""
    kept = []
    position = 0
    for match in TOKEN.finditer(text):
        kept.append(blank(text[position:match.start()]))
        kept.append(match[0] if match[0].startswith("/") else blank(match[0]))
        position = match.end()
    kept.append(blank(text[position:]))
    return "".join(kept)


def matches(pattern, text):
    """Pairs of line number and match."""
    for match in re.finditer(pattern, text, re.MULTILINE):
        yield text.count("\n", 0, match.start()) + 1, match


def is_test(path):
    return path.startswith("tests/") or bool(re.search(r"_(test|testing|bench|fuzz)\.\w+$", path))


def is_data(path):
    """Inputs and expected outputs of tests: not written to be read as our code."""
    return (path.startswith(("fuzz/corpus/", "tests/idl/accept/", "tests/idl/reject/"))
            or "/golden/" in path)


# ---- the tree ---------------------------------------------------------------------------------

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


class Tree:
    """Every text file by its path, as tidy sees it."""

    def __init__(self, files):
        self.files = files

    @staticmethod
    def read(root):
        root = pathlib.Path(root)
        return Tree({path: (root / path).read_text(errors="replace")
                     for path in list_files(root) if wanted(path)})

    def cxx(self):
        return self.having(CXX)

    def having(self, suffixes):
        for path in sorted(self.files):
            if path.endswith(suffixes) and not is_data(path):
                yield path, self.files[path]

    def includes(self, path):
        """(line, name as written, file of the tree or None) of every quoted include."""
        text = self.files[path]
        for match in INCLUDE.finditer(text):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
            found = next((name for name in (match[1], beside) if name in self.files), None)
            yield text.count("\n", 0, match.start()) + 1, match[1], found


def list_files(root):
    # A source archive has no .git; it may lie within another repository, which knows nothing of it.
    if (root / ".git").exists():
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], capture_output=True, check=True).stdout.decode()
        return [path for path in listed.split("\0") if path and (root / path).is_file()]
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders
                      if name not in ("build", "out", "dist", "__pycache__", ".cache")
                      and not name.startswith("build-")]
        found += [pathlib.Path(folder, name).relative_to(root).as_posix() for name in names
                  if name != "compile_commands.json"]
    return found


def wanted(path):
    suffixes = CXX + SCRIPTS + (".idl", ".md", ".txt", ".json", ".in", ".yml", ".svg")
    return path.endswith(suffixes) or path in ("Makefile", ".ci/run")


# ---- layers and cycles ------------------------------------------------------------------------


def read_layers(tree):
    """Module → set of modules it may use."""
    layers = {}
    for line in tree.files.get(LAYERS, "").splitlines():
        line = line.split("#")[0].strip()
        if ":" in line:
            module, uses = line.split(":", 1)
            layers[module.strip()] = set(uses.split())
    return layers


def module_of(path, layers):
    """The module of a file: its folder's name, or the whole folder's if that has a line of its own
    in the layers ("idlc/cpp", "orb/server")."""
    folder = posixpath.dirname(path).removeprefix("kairos/")
    while "/" in folder:
        if folder in layers:
            return folder
        folder = posixpath.dirname(folder)
    parts = path.split("/")
    if parts[0] == "kairos" and len(parts) > 2:
        return parts[1]
    if parts[0] in ("idlc", "bench", "tools") and len(parts) > 1:
        return parts[0]
    return None


def speaks_omg(path, layers):
    """Whether the OMG's spellings belong in this file."""
    if path.startswith(PROGRAMS) or is_test(path):
        return True
    module = module_of(path, layers)
    return module in OMG_MODULES or OMG_MODULES[-1] in layers.get(module, ())


def find_cycles(edges):
    """The cycles a depth-first walk meets: lists of nodes, the first again at the end."""
    state = {}
    cycles = []
    for start in sorted(edges):
        if start in state:
            continue
        state[start] = "open"
        stack = [(start, iter(sorted(edges[start])))]
        while stack:
            node, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                state[node] = "done"
                stack.pop()
            elif state.get(target) == "open":
                open_nodes = [name for name, _ in stack]
                cycles.append(open_nodes[open_nodes.index(target):] + [target])
            elif target not in state:
                state[target] = "open"
                stack.append((target, iter(sorted(edges.get(target, ())))))
    return cycles


def check_layers_file(tree):
    layers = read_layers(tree)
    for module, uses in layers.items():
        for unknown in sorted(uses - layers.keys()):
            yield Finding(LAYERS, 1, "layers", f"'{module}' names unknown module '{unknown}'")
    for cycle in find_cycles(layers):
        yield Finding(LAYERS, 1, "layers", f"permitted edges make a cycle: {' → '.join(cycle)}")


def check_layers(tree):
    layers = read_layers(tree)
    for path, _ in tree.cxx():
        module = module_of(path, layers)
        if module is None:
            continue
        if module not in layers:
            yield Finding(path, 1, "layers", f"module '{module}' is not in {LAYERS}")
            continue
        for line, name, _ in tree.includes(path):
            used = module_of(name, layers)
            if used and used != module and used not in layers[module]:
                yield Finding(path, line, "layers",
                              f"'{module}' may not use '{used}' ({LAYERS}): \"{name}\"")
            if is_test(name) and not is_test(path):
                yield Finding(path, line, "layers", f'only tests may use "{name}"')


def check_link_layers(tree):
    """kairos_module(… DEPENDS …) says the same as the layers."""
    layers = read_layers(tree)
    for path, text in tree.files.items():
        if posixpath.basename(path) != "CMakeLists.txt":
            continue
        bare = re.sub(r"#.*", "", text)
        for line, call in matches(r"\bkairos_module\(\s*(\w+)([^)]*)\)", bare):
            depends = re.search(r"\bDEPENDS\s+([a-z_\s]*)", call[2])
            for used in depends[1].split() if depends else []:
                if used not in layers.get(call[1], set()):
                    yield Finding(path, line, "layers",
                                  f"'{call[1]}' may not link '{used}' ({LAYERS})")


def check_cycles(tree):
    files = {}
    folders = {}
    for path, _ in tree.cxx():
        targets = {found for _, _, found in tree.includes(path) if found}
        files[path] = targets
        here = posixpath.dirname(path)
        folders.setdefault(here, set()).update(
            posixpath.dirname(name) for name in targets if posixpath.dirname(name) != here)
    for cycle in find_cycles(files):
        yield Finding(cycle[0], 1, "cycle", f"include cycle: {' → '.join(cycle)}")
    for cycle in find_cycles(folders):
        yield Finding(cycle[0], 1, "cycle", f"cycle between folders: {' → '.join(cycle)}")


def check_include_paths(tree):
    for path, _ in tree.cxx():
        if not path.startswith(("kairos/", "idlc/")):
            continue
        for line, name, found in tree.includes(path):
            if found and found != name:
                yield Finding(path, line, "include", f'include it as "{found}"')


def check_own_header_first(tree):
    """A header included first by its own source is proven to stand alone."""
    for path, text in tree.having(SOURCES):
        stem = path.rsplit(".", 1)[0]
        own = next((stem + suffix for suffix in HEADERS if stem + suffix in tree.files), None)
        first = re.search(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', text, re.MULTILINE)
        if own and first and first[1] not in (own, posixpath.basename(own)):
            yield Finding(path, text.count("\n", 0, first.start()) + 1, "include",
                          f'include "{own}" first')


# ---- how a file opens -------------------------------------------------------------------------

SPDX = "SPDX-License-Identifier: Apache-2.0"


def opening(path, text):
    """(comment mark, lines from the licence line on, number of the first of them)."""
    lines = text.splitlines()
    skip = 1 if lines and lines[0].startswith("#!") else 0
    return ("//" if path.endswith(CXX + (".idl",)) else "#"), lines[skip:], skip + 1


def check_licence(tree):
    for path, text in tree.files.items():
        named = posixpath.basename(path) in ("CMakeLists.txt", "Makefile") or path == ".ci/run"
        if is_data(path) or not (named or path.endswith(CXX + SCRIPTS + (".idl",))):
            continue
        mark, lines, first = opening(path, text)
        if not lines or lines[0] != f"{mark} {SPDX}":
            yield Finding(path, first, "licence", f"the first line must be '{mark} {SPDX}'")


def needs_header_comment(tree, path):
    if path.endswith(HEADERS + SCRIPTS):
        return True
    if path.endswith(SOURCES) and not is_test(path):
        stem = path.rsplit(".", 1)[0]
        return not any(stem + suffix in tree.files for suffix in HEADERS)
    return False


def check_header_comment(tree):
    for path, text in tree.having(CXX + SCRIPTS):
        if not needs_header_comment(tree, path):
            continue
        mark, lines, first = opening(path, text)
        block = []
        for line in lines[1:]:
            if not line.startswith(mark):
                break
            block.append(line[len(mark):].strip())
        prose = [line for line in block if line]
        if not prose:
            yield Finding(path, first + 1, "header-comment",
                          "say after the licence line what this file is and where it stands")
        elif len(prose) > HEADER_COMMENT_LINES_MAX:
            yield Finding(path, first + 1, "header-comment",
                          f"the opening comment has {len(prose)} lines, more than "
                          f"{HEADER_COMMENT_LINES_MAX}: move it to docs/")


def check_pragma_once(tree):
    for path, text in tree.having(HEADERS):
        if not re.search(r"^#pragma once$", text, re.MULTILINE):
            yield Finding(path, 1, "pragma-once", "a header needs #pragma once")


# ---- lengths ----------------------------------------------------------------------------------


def check_lengths(tree):
    for path, text in tree.having(CXX + SCRIPTS):
        lines = text.splitlines()
        if len(lines) > FILE_LINES_MAX:
            yield Finding(path, len(lines), "file-length",
                          f"{len(lines)} lines, more than {FILE_LINES_MAX}")
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                yield Finding(path, number, "line-length",
                              f"{len(line)} columns, more than {COLUMNS_MAX}")
            if line != line.rstrip():
                yield Finding(path, number, "whitespace", "trailing white space")


def function_name(lines, brace):
    """The name of the function whose body opens at lines[brace], read backwards."""
    start = brace
    while start > 0 and start > brace - 12 and lines[start - 1].strip() \
            and not re.search(r"[;}]\s*$|^\s*(public|private|protected):", lines[start - 1]):
        start -= 1
    match = re.search(r"([~\w]+|operator\s*\S+?)\s*\(", " ".join(lines[start:brace]))
    return match[1] if match else "block"


def functions(text):
    """(name, line, lines in the body): bodies open with a brace of its own line (.clang-format) and
    close at the same indent."""
    lines = code_of(text).splitlines()
    for number, line in enumerate(lines):
        if line.strip() != "{":
            continue
        indent = line[:line.index("{")]
        for end in range(number + 1, len(lines)):
            if lines[end].startswith(indent + "}"):
                yield function_name(lines, number), number + 1, end - number - 1
                break


def check_functions(tree):
    for path, text in tree.cxx():
        for name, line, length in functions(text):
            if length > FUNCTION_LINES_MAX:
                yield Finding(path, line, "function-length",
                              f"'{name}' has {length} lines, more than {FUNCTION_LINES_MAX}", name)


# ---- words ------------------------------------------------------------------------------------

# The specification's own names.
OMG_NAMES = re.compile(r"(POA|Servant|Policy|Adapter|PriorityMapping|PriorityTransform|"
                       r"poa_|servant_|policy_|adapter_)_?[Mm]anager")
VAGUE = r"\b\w*(?:Manager|Helper|Util)\w*|\b(?:\w+_)?(?:helper|util|utils)s?(?:_\w+)?\b"
# References are the façade's alone; the values of CORBA:: also belong to whoever may use mapping.
OMG_REFERENCE = r"\b[A-Z]\w*_(?:ptr|var|out)\b|\b_(?:narrow|duplicate|nil)\b"
OMG_SCOPE = r"\b(?:PortableServer|RTCORBA|CosNaming|IOP|GIOP)::"
OMG_VALUE = r"\bCORBA::"


def check_names(tree):
    layers = read_layers(tree)
    for path, text in tree.cxx():
        code = code_of(text)
        omg = speaks_omg(path, layers)
        if not omg:
            for line, match in matches(r"(?<![\w.>:])get_\w+(?=\s*\()", code):
                yield Finding(path, line, "name", f"'{match[0]}': no get_ prefix", match[0])
            values = "mapping" in layers.get(module_of(path, layers), ())
            spelling = f"{OMG_REFERENCE}|{OMG_SCOPE}" + ("" if values else f"|{OMG_VALUE}")
            for line, match in matches(spelling, code):
                yield Finding(path, line, "omg-spelling",
                              f"'{match[0]}': OMG spellings belong in kairos/mapping, types, "
                              "values, corba, what is above it and generated code", match[0])
        for line, match in matches(VAGUE, code):
            # poa::Manager is the core's POAManager, by its short name.
            own = path.startswith(("kairos/poa/", "kairos/corba/", "tests/")) and \
                match[0] in ("Manager", "ManagerState", "ManagerStates", "PoaManager")
            if not own and not OMG_NAMES.search(match[0]):
                yield Finding(path, line, "name",
                              f"'{match[0]}': say what it does (no Manager, Helper, Util)",
                              match[0])
        if path.endswith(HEADERS):
            for line, match in matches(r"^(?!\s*#).*\busing\s+namespace\b", code):
                yield Finding(path, line, "using-namespace", "no using namespace in a header")
    for path in tree.files:
        if path.endswith(CXX + (".py", ".cmake")) and not is_data(path) \
                and re.search(r"(helper|utils?)(?![a-z])", posixpath.basename(path)):
            yield Finding(path, 1, "name", "name the file after what it holds")


STATEMENT = re.compile(
    r"^(?:return\b[^;]*|(?:[\w:<>*&]+\s+)?[\w:.]+(?:->\w+)*\s*(?:[-+|&]?=[^=].*|\([^;]*\)))\s*;$"
    r"|^#\s*(?:include|if|ifdef|endif|define)\b"
    r"|^(?:if|for|while|switch) \(.*\)\s*\{?$"
    r"|^\}(?:\s*else\s*\{)?$")


def check_comments(tree):
    for path, text in tree.cxx():
        if path in SELF:
            continue
        # More than one space after the slashes is an indented example, and /// documents.
        for line, match in matches(r"(?<!/)//[ ]?(?![ /!<])(.*)$", comments_of(text)):
            if STATEMENT.match(match[1].strip()):
                yield Finding(path, line, "dead-code", f"commented-out code: {match[1].strip()}")


# Editors show the comment of a declaration without the one before it.
LEANS = re.compile(r"(?:The same(?:[.,;:]| (?:of|for|without|where|behind|by|unless|if)\b)"
                   r"|Likewise\b)")


def check_comments_alone(tree):
    for path, text in tree.having(HEADERS):
        if not path.startswith("kairos/"):
            continue
        for line, match in matches(r"(?:^[ \t]*///(?!<)[^\n]*\n)+", text):
            words = " ".join(re.sub(r"^[ \t]*///", "", match[0], flags=re.MULTILINE).split())
            if LEANS.match(words):
                yield Finding(path, line, "comment-alone",
                              f"'{' '.join(words.split()[:3])} …': say it in full; a "
                              "declaration's comment is read alone")


def check_todos(tree):
    for path, text in tree.having(CXX + SCRIPTS + (".idl", ".txt", "Makefile")):
        if path in SELF:
            continue
        words = comments_of(text) if path.endswith(CXX) else text
        for line, match in matches(r"\b(?:TODO|FIXME|XXX|HACK)\b(?:\(\w*\))?", words):
            if not re.fullmatch(r"TODO\((perf|spec|test|cleanup)\)", match[0]):
                yield Finding(path, line, "todo",
                              f"'{match[0]}': write TODO(perf|spec|test|cleanup)")
        for line, _ in matches(r"@@", text):
            yield Finding(path, line, "todo", "'@@' is a leftover mark")


def check_locks(tree):
    for path, text in tree.cxx():
        if not lock_table.is_product(path):
            continue
        for mutex in lock_table.mutexes(path, text):
            if not mutex.guards:
                yield Finding(path, mutex.line, "lock",
                              f"'{mutex.name}': say beside it '// guards …' and, behind "
                              "semicolons, inside or outside which others it is taken",
                              mutex.name)


# ---- leftovers --------------------------------------------------------------------------------


def check_debug(tree):
    for path, text in tree.cxx():
        code = code_of(text)
        for line, match in matches(r"^[ \t]*#[ \t]*if[ \t]+[01]\b", code):
            yield Finding(path, line, "debug", f"'{match[0].strip()}': a block switched off")
        if path.startswith("kairos/") and not is_test(path) and path != "kairos/base/log.cpp":
            for line, match in matches(
                    r"\bstd::(?:cout|cerr|clog)\b|\b(?:printf|puts|fputs|perror)\s*\("
                    r"|\bfprintf\s*\(\s*std(?:err|out)\b", code):
                yield Finding(path, line, "debug",
                              f"'{match[0].strip()}': the library speaks through kairos::log")
    for path, text in tree.having((".py", ".sh")):
        if path in SELF:
            continue
        for line, match in matches(r"\bbreakpoint\(\)|\bpdb\b|^\s*set -[a-z]*x", text):
            yield Finding(path, line, "debug", f"'{match[0].strip()}' is left over")


def check_machine_paths(tree):
    for path, text in sorted(tree.files.items()):
        if path in SELF or is_data(path):
            continue
        for line, match in matches(r"(?<![\w.$})-])/(?:home|work|root)/[\w.]+|/tmp/b-\w+", text):
            yield Finding(path, line, "machine-path", f"'{match[0]}' exists on one machine only")


SLEEP = {
    CXX: r"\b(?:std::this_thread::)?(?:sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(",
    (".py",): r"\bsleep\(",
    (".sh",): r"(?:^|[;&|]|\b(?:do|then)\b)\s*sleep\s+[\d.$]",
}


def check_sleeps(tree):
    for suffixes, pattern in SLEEP.items():
        for path, text in tree.having(suffixes):
            if path in SELF or not is_test(path):
                continue
            for line, match in matches(pattern, code_of(text) if suffixes is CXX else text):
                yield Finding(path, line, "sleep",
                              f"'{match[0].strip()}': a test waits for an event, not for time")


SYSTEM_HEADERS = frozenset(
    "assert complex ctype errno fenv float inttypes iso646 limits locale malloc math memory poll"
    " pthread resolv sched search semaphore setjmp signal stdarg stdint stdio stdlib string strings"
    " syslog threads time types uchar unistd values wchar wctype".split())


def check_shadows(tree):
    """The folder of a module with generated code is on programs' include paths."""
    for path in tree.files:
        folder, name = posixpath.split(path)
        if re.fullmatch(r"kairos/\w+", folder) and name.removesuffix(".h") in SYSTEM_HEADERS \
                and name.endswith(".h") \
                and "kairos_module_idl(" in tree.files.get(f"{folder}/CMakeLists.txt", ""):
            yield Finding(path, 1, "shadow", f"programs that include <{name}> would get this one")


LOOKUPS = r"\b(?:getnameinfo|gethostby\w+|getaddrinfo(?:_a)?)\b"
LOOKUP_HOME = "kairos/net/address.cpp"


def check_lookups(tree):
    """Who asks for names: one place, and nobody asks for the name of an address (reverse DNS)."""
    for path, text in tree.cxx():
        if not path.startswith(("kairos/", "tools/")):
            continue
        for line, match in matches(LOOKUPS, code_of(text)):
            if match[0] != "getaddrinfo" or path != LOOKUP_HOME:
                yield Finding(path, line, "lookup",
                              f"'{match[0]}': names are looked up in {LOOKUP_HOME}, addresses "
                              "never", match[0])


MENTION = r"(?<![\w/.])docs/[\w/-]+\.(?:md|txt|svg)\b"


def check_mentions(tree):
    """A document that somebody refers to is there."""
    for path, text in sorted(tree.files.items()):
        if path in SELF or is_data(path):
            continue
        for line, match in matches(MENTION, text):
            if match[0] not in tree.files:
                yield Finding(path, line, "mention", f"there is no {match[0]}", match[0])


# ---- dead files -------------------------------------------------------------------------------


def cmake_mentions(tree, path):
    """Whether a CMakeLists.txt (or .cmake) from the file's folder upwards names it, also as
    ${variable}suffix with the rest of the name in the same text."""
    folder = posixpath.dirname(path)
    while True:
        relative = posixpath.relpath(path, folder or ".")
        text = tree.files.get(posixpath.join(folder, "CMakeLists.txt"), "")
        if not folder:
            text += "".join(body for name, body in tree.files.items() if name.endswith(".cmake"))
        bare = re.sub(r"#.*", "", text)
        if re.search(rf"(?<![\w.]){re.escape(relative)}(?![\w.])", bare):
            return True
        for suffix in set(re.findall(r"\$\{\w+\}([\w./]+)", bare)):
            if relative.endswith(suffix) and relative != suffix and re.search(
                    rf"(?<![\w.]){re.escape(relative[:-len(suffix)])}(?![\w.])", bare):
                return True
        if not folder:
            return False
        folder = posixpath.dirname(folder)


def check_dead_files(tree):
    included = set()
    for path, _ in tree.cxx():
        included.update(found for _, _, found in tree.includes(path) if found)
    for path, _ in tree.cxx():
        if path.endswith(HEADERS) and path not in included and not cmake_mentions(tree, path):
            yield Finding(path, 1, "dead-file", "no file includes this header and no "
                                                "CMakeLists.txt names it")
        if path.endswith(SOURCES) and path not in included and not cmake_mentions(tree, path):
            yield Finding(path, 1, "dead-file", "no CMakeLists.txt builds this file")


# ---- exceptions and main ----------------------------------------------------------------------

CHECKS = (check_layers_file, check_layers, check_link_layers, check_cycles, check_include_paths,
          check_own_header_first, check_licence, check_header_comment, check_pragma_once,
          check_lengths, check_functions, check_names, check_comments, check_comments_alone,
          check_todos, check_locks, check_debug, check_machine_paths, check_sleeps, check_shadows,
          check_lookups, check_mentions, check_dead_files)
EXCEPTION = re.compile(
    r"(?P<rule>[\w-]+) (?P<path>[^\s:]+)(?: (?P<subject>[^:]+))?: (?P<reason>.+)")


@dataclasses.dataclass
class Exemption:
    line: int
    rule: str
    path: str
    subject: str
    used: bool = False

    def covers(self, finding):
        return (self.rule == finding.rule and fnmatch.fnmatchcase(finding.path, self.path)
                and self.subject in ("", finding.subject))


def read_exemptions(tree):
    """The exceptions, and findings about lines that are not well formed."""
    exemptions = []
    findings = []
    for number, line in enumerate(tree.files.get(EXCEPTIONS, "").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = EXCEPTION.fullmatch(line.strip())
        if not match or len(match["reason"].split()) < 3:
            findings.append(Finding(EXCEPTIONS, number, "exception",
                                    "write 'rule path [subject]: reason', the reason in words"))
            continue
        exemptions.append(Exemption(number, match["rule"], match["path"], match["subject"] or ""))
    return exemptions, findings


def check(tree):
    """Everything there is to say about a tree, in order of place."""
    exemptions, findings = read_exemptions(tree)
    for rule in CHECKS:
        for finding in rule(tree):
            covering = [exemption for exemption in exemptions if exemption.covers(finding)]
            for exemption in covering:
                exemption.used = True
            if not covering:
                findings.append(finding)
    findings += [Finding(EXCEPTIONS, exemption.line, "exception",
                         f"nothing breaks '{exemption.rule}' in {exemption.path} any more")
                 for exemption in exemptions if not exemption.used]
    return sorted(set(findings), key=lambda finding: (finding.path, finding.line, finding.rule))


def main():
    parser = argparse.ArgumentParser(description="check the rules of the house")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent)
    tree = Tree.read(parser.parse_args().root)
    if not read_layers(tree):
        print(f"{LAYERS}: missing or empty: not a Kairos tree", file=sys.stderr)
        return 2
    findings = check(tree)
    for finding in findings:
        print(finding)
    print(f"tidy: {len(tree.files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
