#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests of tools/tidy.py on small trees held in memory: for every rule, a tree that breaks it and
# the nearest one that does not.
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tidy  # noqa: E402  (found through the line above)

LAYERS = "base:\ncdr: base\norb: cdr base\nidlc: base\ntools: orb cdr base idlc\n"
TOP = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = TOP + "//\n// A file of a test.\n#pragma once\n"
HASH_TOP = "# SPDX-License-Identifier: Apache-2.0\n"


def tree(files):
    """A tree with the layers, and a CMakeLists.txt that names every source unless one is given."""
    complete = {tidy.LAYERS: LAYERS, **files}
    named = " ".join(path for path in files if path.endswith((".cpp", ".h")))
    complete.setdefault("CMakeLists.txt", HASH_TOP + f"add_library(everything {named})\n")
    return tidy.Tree(complete)


def findings(files):
    return [(found.rule, found.path, found.line) for found in tidy.check(tree(files))]


def rules(files):
    return sorted({rule for rule, _, _ in findings(files)})


class Layers(unittest.TestCase):
    def test_permitted_edge(self):
        self.assertEqual(rules({"kairos/cdr/a.h": HEADER + '#include "kairos/base/b.h"\n',
                                "kairos/base/b.h": HEADER}), [])

    def test_forbidden_edge_is_located(self):
        self.assertEqual(findings({"kairos/base/b.h": HEADER + '#include "kairos/cdr/a.h"\n',
                                   "kairos/cdr/a.h": HEADER}), [("layers", "kairos/base/b.h", 5)])

    def test_forbidden_edge_to_a_file_that_is_not_there(self):
        self.assertEqual(rules({"idlc/lex.h": HEADER + '#include "kairos/orb/orb.h"\n'}),
                         ["layers"])

    def test_tools_are_bound_too(self):
        self.assertEqual(rules({"tools/kairos/main.h": HEADER + '#include "kairos/poa/poa.h"\n'}),
                         ["layers"])

    def test_tests_may_use_everything(self):
        self.assertEqual(rules({"tests/a.h": HEADER + '#include "kairos/poa/poa.h"\n'}), [])

    def test_only_tests_use_what_is_of_tests(self):
        for used in ("tests/faults.h", "kairos/base/a_testing.h"):
            include = HEADER + f'#include "{used}"\n'
            self.assertEqual(findings({"kairos/base/b.h": include, used: HEADER}),
                             [("layers", "kairos/base/b.h", 5)])
            for user in ("tests/b.h", "kairos/base/b_testing.h"):
                self.assertEqual(rules({user: include, used: HEADER}), [])

    def test_folder_with_a_line_of_its_own(self):
        layers = "idlc:\nidlc/cpp: idlc\nidlc/json: idlc\norb:\norb/server: orb\n"
        def found(path, included):
            return rules({tidy.LAYERS: layers, path: HEADER + f'#include "{included}"\n'})
        self.assertEqual(found("idlc/cpp/a.h", "idlc/b.h"), [])
        self.assertEqual(found("idlc/b.h", "idlc/cpp/a.h"), ["layers"])
        self.assertEqual(found("idlc/json/a.h", "idlc/cpp/b.h"), ["layers"])
        self.assertEqual(found("kairos/orb/server/a.h", "kairos/orb/b.h"), [])
        self.assertEqual(found("kairos/orb/b.h", "kairos/orb/server/a.h"), ["layers"])
        self.assertEqual(found("idlc/other/a.h", "idlc/b.h"), [])

    def test_unlisted_module(self):
        self.assertEqual(rules({"kairos/magic/a.h": HEADER}), ["layers"])

    def test_include_in_a_comment_does_not_count(self):
        self.assertEqual(rules({"kairos/base/b.h": HEADER + '//   #include "kairos/cdr/a.h"\n'}),
                         [])

    def test_linked_edge(self):
        module = HASH_TOP + "kairos_module(cdr\n    SOURCES a.cpp\n    DEPENDS base {})\n"
        self.assertEqual(rules({"kairos/cdr/CMakeLists.txt": module.format("")}), [])
        self.assertEqual(findings({"kairos/cdr/CMakeLists.txt": module.format("orb")}),
                         [("layers", "kairos/cdr/CMakeLists.txt", 2)])

    def test_cycle_in_the_permitted_edges(self):
        self.assertEqual(rules({tidy.LAYERS: "a: b\nb: a\n"}), ["layers"])

    def test_unknown_name_in_the_permitted_edges(self):
        self.assertEqual(rules({tidy.LAYERS: "a: b\n"}), ["layers"])


class Cycles(unittest.TestCase):
    def test_between_files(self):
        self.assertEqual(rules({"kairos/base/a.h": HEADER + '#include "kairos/base/b.h"\n',
                                "kairos/base/b.h": HEADER + '#include "kairos/base/a.h"\n'}),
                         ["cycle"])

    def test_between_folders_without_one_between_files(self):
        files = {"tests/x/a.h": HEADER + '#include "tests/y/b.h"\n', "tests/y/b.h": HEADER,
                 "tests/y/c.h": HEADER + '#include "tests/x/d.h"\n', "tests/x/d.h": HEADER}
        self.assertEqual(rules(files), ["cycle"])

    def test_diamond_is_none(self):
        files = {"kairos/base/a.h": HEADER + '#include "kairos/base/b.h"\n'
                                             '#include "kairos/base/c.h"\n',
                 "kairos/base/b.h": HEADER + '#include "kairos/base/d.h"\n',
                 "kairos/base/c.h": HEADER + '#include "kairos/base/d.h"\n',
                 "kairos/base/d.h": HEADER}
        self.assertEqual(rules(files), [])

    def test_own_header_first(self):
        files = {"kairos/base/a.h": HEADER, "kairos/base/b.h": HEADER}
        own = '#include "kairos/base/a.h"\n'
        other = '#include "kairos/base/b.h"\n'
        self.assertEqual(rules({**files, "kairos/base/a.cpp": TOP + own + other}), [])
        self.assertEqual(findings({**files, "kairos/base/a.cpp": TOP + other + own}),
                         [("include", "kairos/base/a.cpp", 2)])
        self.assertEqual(rules({**files, "kairos/base/a.cpp": TOP + "#include <map>\n" + own}),
                         ["include"])

    def test_include_by_short_path(self):
        self.assertEqual(rules({"kairos/base/a.h": HEADER + '#include "b.h"\n',
                                "kairos/base/b.h": HEADER}), ["include"])


class Opening(unittest.TestCase):
    def test_licence_in_every_kind_of_file(self):
        for path in ("kairos/base/a.h", "a.cmake", "a.py", "a.sh", "a.idl", "x/CMakeLists.txt",
                     "Makefile", ".ci/run"):
            with self.subTest(path):
                self.assertIn("licence", rules({path: "\n"}))

    def test_licence_after_the_interpreter(self):
        self.assertEqual(rules({"a.sh": "#!/bin/sh\n" + HASH_TOP + "# What it is.\n"}), [])

    def test_licence_of_a_corpus_is_its_own(self):
        self.assertEqual(rules({"fuzz/corpus/idlc.parse/a.idl": "module m {};\n"}), [])

    def test_header_comment(self):
        self.assertEqual(rules({"kairos/base/a.h": TOP + "#pragma once\n"}), ["header-comment"])
        self.assertEqual(rules({"kairos/base/a.h": TOP + "//\n#pragma once\n"}), ["header-comment"])

    def test_header_comment_of_a_source_is_in_its_header(self):
        self.assertEqual(rules({"kairos/base/a.h": HEADER, "kairos/base/a.cpp": TOP}), [])
        self.assertEqual(rules({"kairos/base/a.cpp": TOP}), ["header-comment"])

    def test_pragma_once(self):
        self.assertEqual(rules({"kairos/base/a.h": TOP + "// What it is.\n"}), ["pragma-once"])


def body(name, lines):
    return f"int {name}(int value)\n{{\n" + "    ++value;\n" * lines + "}\n"


class Lengths(unittest.TestCase):
    def test_line(self):
        self.assertEqual(rules({"kairos/base/a.h": HEADER + "/" * 100 + "\n"}), [])
        self.assertEqual(findings({"kairos/base/a.h": HEADER + "/" * 101 + "\n"}),
                         [("line-length", "kairos/base/a.h", 5)])

    def test_line_counts_characters_not_bytes(self):
        self.assertEqual(rules({"kairos/base/a.h": HEADER + "//" + "→" * 98 + "\n"}), [])

    def test_file(self):
        self.assertEqual(rules({"kairos/base/a.h": HEADER + "\n" * 996}), [])
        self.assertEqual(rules({"kairos/base/a.h": HEADER + "\n" * 997}), ["file-length"])

    def test_function(self):
        self.assertEqual(rules({"kairos/base/a.h": HEADER + body("short_one", 70)}), [])
        self.assertEqual(rules({"kairos/base/a.h": HEADER + body("long_one", 71)}),
                         ["function-length"])

    def test_function_is_named_and_member_functions_count(self):
        text = HEADER + "class A {\n    int member(\n        int value) const\n    {\n"
        text += "        ++value;\n" * 71 + "    }\n};\n"
        found = tidy.check(tree({"kairos/base/a.h": text}))
        self.assertEqual([(f.rule, f.subject) for f in found], [("function-length", "member")])

    def test_braces_in_strings_do_not_end_a_function(self):
        text = HEADER + "void f()\n{\n" + '    call(R"(\n}\n)");\n' + "    g();\n" * 70 + "}\n"
        self.assertEqual(rules({"kairos/base/a.h": text}), ["function-length"])

    def test_class_is_no_function(self):
        text = HEADER + "class A {\n" + "    int a;\n" * 90 + "};\n"
        self.assertEqual(rules({"kairos/base/a.h": text}), [])

    def test_trailing_white_space(self):
        self.assertEqual(rules({"kairos/base/a.h": HEADER + "int a; \n"}), ["whitespace"])


class Names(unittest.TestCase):
    def rules_of(self, code, path="kairos/base/a.h"):
        return rules({path: HEADER + code + "\n"})

    def test_get_prefix(self):
        self.assertEqual(self.rules_of("int get_size();"), ["name"])
        self.assertEqual(self.rules_of("int get_size();", "kairos/mapping/a.h"), ["layers"])
        self.assertEqual(self.rules_of("int get_size();", "tests/a.h"), [])
        self.assertEqual(self.rules_of("auto a = std::get_if<int>(&b); int target_size();"), [])
        self.assertEqual(self.rules_of("auto a = poa.get_servant();"), [])
        self.assertEqual(self.rules_of("auto a = std::this_thread::get_id();"), [])

    def test_vague_names(self):
        for code in ("class ConnectionManager;", "class StringHelper;", "namespace util {}",
                     "int parse_helper();", "struct IoUtils;"):
            with self.subTest(code):
                self.assertEqual(self.rules_of(code), ["name"])

    def test_names_of_the_specification(self):
        for code in ("class POAManager;", "class ServantManager;", "int utility;",
                     "int utilise();"):
            with self.subTest(code):
                self.assertEqual(self.rules_of(code), [])

    def test_manager_of_adapters(self):
        layers = {tidy.LAYERS: "base:\npoa:\n"}
        for path, expected in (("kairos/poa/a.h", []), ("kairos/base/a.h", ["name"])):
            with self.subTest(path):
                self.assertEqual(rules({**layers, path: HEADER + "class Manager;\n"}), expected)

    def test_names_in_strings_and_comments(self):
        self.assertEqual(self.rules_of('auto a = "StringHelper get_a()"; // no Helper'), [])

    def test_file_name(self):
        self.assertEqual(rules({"kairos/base/string_utils.h": HEADER}), ["name"])

    def test_using_namespace(self):
        self.assertEqual(self.rules_of("using namespace std;"), ["using-namespace"])
        self.assertEqual(rules({"kairos/base/a.cpp": HEADER + "using namespace std;\n"}), [])

    def test_what_tests_share_counts_as_test(self):
        self.assertEqual(self.rules_of("int get_size();", "kairos/base/loopback_testing.h"), [])

    def test_omg_spellings(self):
        for code in ("CORBA::Object* a;", "Echo_ptr a;", "a._narrow(b);"):
            with self.subTest(code):
                self.assertEqual(self.rules_of(code), ["omg-spelling"])
                self.assertEqual(self.rules_of(code, "tests/a.h"), [])
        layers = {tidy.LAYERS: "mapping:\norb: mapping\n"}
        value = {"kairos/orb/a.h": HEADER + "CORBA::ULong a;\n"}
        reference = {"kairos/orb/a.h": HEADER + "CORBA::Object_ptr a;\n"}
        self.assertEqual(rules({**layers, **value}), [])
        self.assertEqual(rules({**layers, **reference}), ["omg-spelling"])
        above = {tidy.LAYERS: "corba:\nservice: corba\nidlc:\n"}
        for path, expected in (("kairos/service/a.h", []), ("idlc/a.h", ["omg-spelling"])):
            with self.subTest(path):
                self.assertEqual(rules({**above, path: HEADER + "Echo_var a;\n"}), expected)
        self.assertEqual(self.rules_of("std::unique_ptr<int> a; std::exception_ptr b;"), [])


class Leftovers(unittest.TestCase):
    def rules_of(self, code, path="kairos/base/a.h"):
        return rules({path: HEADER + code + "\n"})

    def test_dead_code(self):
        for code in ("// foo(bar);", "// int a = 3;", "    //value.reset();", "// #include <map>",
                     "// return a + b;", "// if (a) {", "// }"):
            with self.subTest(code):
                self.assertEqual(self.rules_of(code), ["dead-code"])

    def test_prose_and_examples_are_not_dead_code(self):
        for code in ("// The reply goes first; then the rest.", "// closed by the peer;",
                     "//   Writer out(buffer);", "/// int a = 3;", "int a; // in bytes",
                     "// see close();  it frees", "} // namespace kairos",
                     '"// foo(bar);"'):
            with self.subTest(code):
                self.assertEqual(self.rules_of(code), [])

    def test_comments_stand_alone(self):
        for comment in ("/// The same of a file.", "/// The same, but slower.", "/// Likewise a b.",
                        "    /// The same.", "/// The same\n/// without waiting."):
            with self.subTest(comment):
                self.assertEqual(self.rules_of(comment + "\nint a();"), ["comment-alone"])
                self.assertEqual(self.rules_of(comment + "\nint a();", "idlc/a.h"), [])
        for comment in ("/// The same octets on every machine.", "/// Reads b.\n/// The same of c.",
                        "// The same of a file.", "/// The sameness of both."):
            with self.subTest(comment):
                self.assertEqual(self.rules_of(comment + "\nint a();"), [])

    def test_todos(self):
        self.assertEqual(self.rules_of("// TODO(perf): one pass would do"), [])
        for code in ("// TODO: later", "// FIXME", "// TODO(me): later", "// XXX", "// @@ here"):
            with self.subTest(code):
                self.assertEqual(self.rules_of(code), ["todo"])
        self.assertEqual(self.rules_of('auto a = mkstemp("fooXXXXXX");'), [])

    def test_debug(self):
        for code in ("#if 0\n#endif", "void f() { std::cout << 1; }", "void f() { printf(x); }",
                     "void f() { std::fprintf(stderr, x); }"):
            with self.subTest(code):
                self.assertEqual(self.rules_of(code), ["debug"])
        for code in ("void f() { std::snprintf(a, 1, x); }", "#if 01\n#endif"):
            with self.subTest(code):
                self.assertEqual(self.rules_of(code), [])
        self.assertEqual(self.rules_of("void f() { std::cout << 1; }", "tools/a.h"), [])

    def test_machine_paths(self):
        for line in ("/home/someone/x", "in /" + "work/tree", "-B /tmp/b-me"):
            with self.subTest(line):
                self.assertEqual(rules({"README.md": line + "\n"}), ["machine-path"])
        for line in ("example.org/work/shop", "${prefix}/home/x", "/usr/share/x"):
            with self.subTest(line):
                self.assertEqual(rules({"README.md": line + "\n"}), [])

    def test_sleeps(self):
        code = "void f() { std::this_thread::sleep_for(a); }"
        self.assertEqual(self.rules_of(code), [])
        self.assertEqual(self.rules_of(code, "kairos/base/a_test.cpp"), ["sleep"])
        self.assertEqual(self.rules_of("void f() { usleep(1); }", "tests/a.h"), ["sleep"])
        shell = "#!/bin/sh\n" + HASH_TOP + "# What it is.\n"
        self.assertEqual(rules({"tests/run.sh": shell + "while x; do sleep 1; done\n"}), ["sleep"])
        self.assertEqual(rules({"tests/run.sh": shell + 'echo "no sleep 1"\n'}), [])


class References(unittest.TestCase):
    def test_no_header_shadows_the_system_s(self):
        header = {"kairos/any/limits.h": "#pragma once\n"}
        generated = {"kairos/any/CMakeLists.txt": HASH_TOP + "kairos_module_idl(any a.idl)\n"}
        self.assertNotIn("shadow", rules(header))
        self.assertIn("shadow", rules(header | generated))

    def test_names_are_looked_up_in_one_place(self):
        def found(path, call):
            return "lookup" in rules({path: HEADER + f"auto* a = {call};\n"})

        self.assertFalse(found(tidy.LOOKUP_HOME, "getaddrinfo(b, c, d, e)"))
        self.assertTrue(found("kairos/base/socket.cpp", "getaddrinfo(b, c, d, e)"))
        self.assertTrue(found("tools/a.cpp", "getnameinfo(b, c, d, e, f, g, h)"))
        self.assertTrue(found(tidy.LOOKUP_HOME, "gethostbyaddr(b, 4, 2)"))
        self.assertTrue(found(tidy.LOOKUP_HOME, "gethostbyname2(b, 2)"))

    def test_documents_that_are_mentioned_are_there(self):
        mention = HEADER + "// docs/options.md lists them.\n"
        self.assertEqual(findings({"tests/a.h": mention, "CMakeLists.txt": HASH_TOP + "x(a.h)\n",
                                   "tests/CMakeLists.txt": HASH_TOP + "x(a.h)\n"}),
                         [("mention", "tests/a.h", 5)])
        self.assertEqual(rules({"tests/a.h": mention, "docs/options.md": "# Options\n"}), [])


class DeadFiles(unittest.TestCase):
    def test_source_in_no_build(self):
        cmake = {"CMakeLists.txt": HASH_TOP}
        self.assertEqual(rules({"tests/a.cpp": HEADER, **cmake}), ["dead-file"])
        self.assertEqual(rules({"tests/a.cpp": HEADER, **cmake,
                                "tests/CMakeLists.txt": HASH_TOP + "x(a.cpp)\n"}), [])
        self.assertEqual(rules({"tests/a.cpp": HEADER, **cmake,
                                "tests/CMakeLists.txt": HASH_TOP + "# a.cpp\nx(ba.cpp)\n"}),
                         ["dead-file"])

    def test_source_named_through_a_variable(self):
        loop = HASH_TOP + "foreach(name client server)\n    x(${name}_main.cpp)\nendforeach()\n"
        self.assertEqual(rules({"tests/client_main.cpp": HEADER, "CMakeLists.txt": HASH_TOP,
                                "tests/CMakeLists.txt": loop}), [])
        self.assertEqual(rules({"tests/other_main.cpp": HEADER, "CMakeLists.txt": HASH_TOP,
                                "tests/CMakeLists.txt": loop}), ["dead-file"])

    def test_header_nobody_includes(self):
        cmake = {"CMakeLists.txt": HASH_TOP + "x(b.cpp)\n"}
        self.assertEqual(rules({"kairos/base/a.h": HEADER, **cmake}), ["dead-file"])
        self.assertEqual(rules({"kairos/base/a.h": HEADER, **cmake,
                                "b.cpp": HEADER + '#include "kairos/base/a.h"\n'}), [])


class Exceptions(unittest.TestCase):
    def test_covers_rule_path_and_subject(self):
        files = {"kairos/base/a.h": HEADER + body("long_one", 71)}
        line = "function-length kairos/base/{} {}: one case for each kind\n"
        self.assertEqual(rules({**files, tidy.EXCEPTIONS: line.format("a.h", "long_one")}), [])
        self.assertEqual(rules({**files, tidy.EXCEPTIONS: line.format("*.h", "long_one")}), [])
        self.assertEqual(rules({**files, tidy.EXCEPTIONS: line.format("a.h", "other")}),
                         ["exception", "function-length"])

    def test_needs_a_reason(self):
        self.assertEqual(rules({tidy.EXCEPTIONS: "file-length kairos/base/a.h:\n"}), ["exception"])
        self.assertEqual(rules({tidy.EXCEPTIONS: "file-length kairos/base/a.h: big\n"}),
                         ["exception"])

    def test_is_reported_when_no_longer_needed(self):
        self.assertEqual(findings({tidy.EXCEPTIONS: "# why\nfile-length a.h: it was very long\n"}),
                         [("exception", tidy.EXCEPTIONS, 2)])


class Message(unittest.TestCase):
    def test_names_file_line_and_rule(self):
        found = tidy.check(tree({"kairos/base/a.h": HEADER + "using namespace std;\n"}))
        self.assertEqual([str(finding) for finding in found],
                         ["kairos/base/a.h:5: no using namespace in a header [using-namespace]"])


class Locks(unittest.TestCase):
    def test_a_mutex_says_what_it_guards(self):
        mutex = "struct A {\n    std::mutex mutex;%s\n};\n"
        self.assertEqual(rules({"kairos/base/a.h": HEADER + mutex % " // guards b; inside C's"}),
                         [])
        self.assertEqual(findings({"kairos/base/a.h": HEADER + mutex % " // one thread ends it"}),
                         [("lock", "kairos/base/a.h", 6)])
        self.assertEqual(rules({"tests/a.h": HEADER + mutex % ""}), [])


if __name__ == "__main__":
    unittest.main()
