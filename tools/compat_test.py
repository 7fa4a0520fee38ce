#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What tools/compat.py makes of compilers' messages.
import argparse
import importlib.util
import pathlib
import unittest

spec = importlib.util.spec_from_file_location(
    "compat", pathlib.Path(__file__).with_name("compat.py"))
compat = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compat)


class MissingTest(unittest.TestCase):
    def test_names_of_gcc(self):
        names, other = compat.missing_in(
            "a.cc:1:10: fatal error: omniORB4/internal/x.h: No such file or directory\n"
            "a.cc:2:1: error: ‘cdrMemoryStream’ was not declared in this scope\n"
            "a.cc:3:1: error: ‘getInterceptors’ is not a member of ‘omniORB’\n"
            "a.cc:3:1: error: ‘class CORBA::ORB’ has no member named ‘BOA_init’\n"
            "a.cc:4:1: error: expected ‘;’\n")
        self.assertEqual(names, {("header", "omniORB4/internal/x.h"), ("name", "cdrMemoryStream"),
                                 ("member", "omniORB::getInterceptors"), ("member", "BOA_init")})
        self.assertEqual(other, "expected ‘;’")

    def test_names_of_clang(self):
        names, _ = compat.missing_in(
            "a.cc:1:1: fatal error: 'x.h' file not found\n"
            "a.cc:2:1: error: use of undeclared identifier 'omniIOR'\n"
            "a.cc:3:1: error: no member named 'BOA' in namespace 'CORBA'\n")
        self.assertEqual(names, {("header", "x.h"), ("name", "omniIOR"), ("member", "CORBA::BOA")})

    def test_nothing_is_missing(self):
        self.assertEqual(compat.missing_in("a.cc:1:1: warning: odd\n"), (set(), None))

    def test_each_layer_has_its_headers(self):
        arguments = argparse.Namespace(layer="tao", prefix=pathlib.Path("/opt"), std="c++20",
                                       compiler="g++", define=[], include=[])
        self.assertIn("-I/opt/include/kairos-tao", compat.flags_of(arguments))
        arguments.layer = "omniorb"
        self.assertIn("-I/opt/include/kairos-omniorb", compat.flags_of(arguments))


if __name__ == "__main__":
    unittest.main()
