#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test package.text runs: how much of ours a minimal server maps.
"""usage: text_test.py SIZE READELF SERVER LIBRARIES OCTETS_MAX

Adds up what SIZE calls text (code, constants, names, tables of exceptions) of the libraries in the
folder LIBRARIES that the program SERVER needs, and those need. Exit status 1: that is none, or more
than OCTETS_MAX.
"""
import pathlib
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def needed_by(readelf, path, folder):
    """Of the folder's libraries, those that `path` needs by itself."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of(readelf, "-dW", path))
    return [folder / name for name in names if (folder / name).exists()]


def main():
    size, readelf, server = sys.argv[1:4]
    folder, octets_max = pathlib.Path(sys.argv[4]), int(sys.argv[5])
    libraries = needed_by(readelf, server, folder)
    for library in libraries:  # which grows
        libraries += [other for other in needed_by(readelf, library, folder)
                      if other not in libraries]
    octets = {library.name: int(output_of(size, library).splitlines()[1].split()[0])
              for library in libraries}
    print(f"{octets}: {sum(octets.values())} octets, at most {octets_max} may be")
    return 1 if not octets or sum(octets.values()) > octets_max else 0


if __name__ == "__main__":
    sys.exit(main())
