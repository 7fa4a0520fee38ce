#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests of tools/lock_table.py: which mutexes it finds, and what it reads of their comments.
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lock_table  # noqa: E402  (found through the line above)


def only(text):
    found = list(lock_table.mutexes("kairos/a/b.h", text))
    assert len(found) == 1, found
    return found[0]


class Mutexes(unittest.TestCase):
    def test_what_is_said_beside_it(self):
        mutex = only("namespace a {\nclass B {\n"
                     "    mutable std::mutex mutex_; // guards c_; inside D's; short\n"
                     "    int c_;\n};\n}\n")
        self.assertEqual((mutex.name, mutex.line, mutex.guards, mutex.rules, mutex.follows),
                         ("B::mutex_", 3, "c_", "inside D's; short", ()))

    def test_what_is_said_in_front_of_it(self):
        mutex = only("struct A {\n    int b;\n    // guards c;\n    // inside D's\n"
                     "    net::PriorityMutex mutex;\n};\n")
        self.assertEqual((mutex.guards, mutex.rules), ("c", "inside D's"))

    def test_what_is_said_in_lines_that_go_on(self):
        mutex = only("struct A {\n    std::mutex mutex; // guards b, and\n"
                     "                      // c\n    int b; // not this\n};\n")
        self.assertEqual(mutex.guards, "b, and c")

    def test_what_follows(self):
        mutex = only("class A {\n    std::mutex mutex_; // guards what follows\n"
                     "    std::map<int, B> b_{};\n    using C = int;\n"
                     "    std::condition_variable d_;\n    struct E {\n        int f;\n    };\n"
                     "    int g_ = 0;\n};\nint i_;\n")
        self.assertEqual(mutex.follows, ("b_", "g_"))

    def test_up_to_the_next_mutex(self):
        first, second = lock_table.mutexes(
            "kairos/a.h", "class A {\n    std::mutex b_; // guards what follows\n    int c_;\n"
            "    std::mutex d_; // guards what follows\n    int e_;\n};\n")
        self.assertEqual((first.follows, second.follows), (("c_",), ("e_",)))

    def test_other_forms_say_nothing(self):
        for comment in ("", " // one thread ends it", " // guards", " // guard of b"):
            self.assertEqual(only(f"struct A {{\n    std::mutex b;{comment}\n}};\n").guards, "")

    def test_every_kind_of_mutex_and_nothing_else(self):
        text = ("std::shared_mutex a; // guards x\n"
                "static constinit std::recursive_mutex b; // guards x\n"
                "// std::mutex c;\n"
                "std::lock_guard<std::mutex> d(a);\n"
                "void f(std::mutex& e);\n")
        self.assertEqual([mutex.name for mutex in lock_table.mutexes("kairos/a.cpp", text)],
                         ["a", "b"])

    def test_those_of_tests_are_not_the_products(self):
        self.assertFalse(lock_table.is_product("kairos/orb/options_test.cpp"))
        self.assertFalse(lock_table.is_product("tests/robust/a.h"))
        self.assertTrue(lock_table.is_product("kairos/orb/orb.h"))


class Page(unittest.TestCase):
    def test_a_row_each_by_folder(self):
        page = lock_table.page_of([
            ("kairos/a/z.h", "struct Z {\n    std::mutex m; // guards what follows; short\n"
                             "    int n;\n};\n"),
            ("kairos/a/b/c.h", "std::mutex d; // guards e\n")])
        self.assertTrue(page.startswith(lock_table.OPENING))
        self.assertIn("| `Z::m` | what follows (`n`) | short | `z.h` |\n\n## kairos/a/b\n", page)
        self.assertIn("| `d` | e |  | `c.h` |\n", page)


if __name__ == "__main__":
    unittest.main()
