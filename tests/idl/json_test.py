#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What `kairos-idl --backend=json` writes: of json/constructs.idl to the letter, of every IDL file
# of the OMG's that is installed and of ours by what holds for any. docs/idl-json.md must know each
# key.
#
# Usage: json_test.py PATH_OF_KAIROS_IDL [--update]

import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
OMG = pathlib.Path("/usr/share/idl/omniORB")
DOCUMENT = (TREE / "docs/idl-json.md").read_text()
# Where a number is the id of a declaration, a list of such or an object with one.
REFERENCES = {"declaration", "definition", "base", "bases", "supports", "raises", "get_raises",
              "set_raises", "enumerator", "callee"}
failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def run(compiler, *arguments, directory):
    return subprocess.run([compiler, *map(str, arguments)], cwd=directory, text=True,
                          capture_output=True, check=False)


def objects(value):
    """Every JSON object within the value, itself among them."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else \
            value if isinstance(value, list) else ():
        yield from objects(inner)


def declarations(document):
    return [each for each in objects(document) if "id" in each]


def check_invariants(name, document):
    check(document["format"] == "kairos-idl" and document["version"] == 1, f"{name}: its format")
    ids = [each["id"] for each in declarations(document)]
    check(len(ids) == len(set(ids)), f"{name}: an id is there twice")
    for each in objects(document):
        for key in REFERENCES & each.keys():
            values = each[key] if isinstance(each[key], list) else [each[key]]
            for value in values:
                check(value in ids, f"{name}: {key} {value} is not there: {each.get('name')}")
        if "line" in each:
            check(0 <= each["file"] < len(document["files"]), f"{name}: a place in no file: {each}")
    scoped = {}
    for each in declarations(document):
        # Modules are reopened; a forward declaration stands beside its definition.
        if each["kind"] in ("module", "forward"):
            continue
        first = scoped.setdefault(each["scoped_name"], each)
        check(first is each or "annotation" in (first["kind"], each["kind"]),
              f"{name}: {each['scoped_name']} is declared twice")
    for each in declarations(document):
        check(each["scoped_name"].split("::")[-1] == each["name"], f"{name}: {each['scoped_name']}")


def golden(compiler, output, update):
    folder = HERE / "json"
    result = run(compiler, "--backend=json", "-o", output, "--depfile", output / "d",
                 "constructs.idl", directory=folder)
    check(result.returncode == 0, result.stderr)
    text = (output / "constructs.json").read_text()
    document = json.loads(text)
    check(document.pop("generator").startswith("kairos-idl "), "the generator")
    text = re.sub(r'^ "generator": .*\n', "", text, flags=re.MULTILINE)
    kept = folder / "constructs.json.golden"
    if update:
        kept.write_text(text)
    if text != kept.read_text():
        failures.append("\n".join(difflib.unified_diff(
            kept.read_text().splitlines(), text.splitlines(), str(kept), "generated",
            lineterm="")))
    rule = (output / "d").read_text().split()
    check(rule[0] == f"{output}/constructs.json:" and "included.idl" in rule, f"depfile: {rule}")
    check_invariants("constructs.idl", document)
    return document


def check_constructs(document):
    """What the golden file says is right: some of it, read as a tool would."""
    by_name = {each["scoped_name"]: each for each in declarations(document)
               if each["kind"] != "forward"}
    check({each["kind"] for each in declarations(document)} == {
        "module", "forward", "interface", "valuetype", "valuebox", "struct", "union", "enum",
        "enumerator", "typedef", "constant", "exception", "attribute", "operation", "native",
        "annotation"}, "every kind of declaration")
    values = {name: each["value"] for name, each in by_name.items() if each["kind"] == "constant"}
    check(values == {
        "Every::flag": True, "Every::letter": "\xe4", "Every::wide_letter": "\u20ac",
        "Every::small": 255, "Every::negative": -5, "Every::huge": 2**64 - 1,
        "Every::third": "0.5", "Every::money": "12.5", "Every::text": 'a "quoted" \xe4',
        "Every::wide_text": "\u20ac", "Every::favourite": {
            "enumerator": by_name["Every::green"]["id"]}}, f"constants: {values}")
    pick = by_name["Every::Ahead::pick"]
    directions = [each["direction"] for each in pick["parameters"]]
    check(directions == ["in", "out", "inout"], f"directions: {directions}")
    check(pick["raises"] == [by_name["Every::Refused"]["id"]], "raises")
    check(pick["timing"]["period_ns"] == 50_000_000, f"timing: {pick['timing']}")
    elsewhere = [each["scoped_name"] for each in document["elsewhere"]]
    check(elsewhere == ["Every::Never", "CORBA::Environment"], f"elsewhere: {elsewhere}")
    check(by_name["Every::Never"]["defined"] is False, "what is declared forward only")
    later = by_name["Every::Later"]
    check(later["truncatable"] and later["bases"] == [by_name["Every::Plain"]["id"]], "bases")


def check_document(document):
    for key in sorted({key for each in objects(document) for key in each}):
        check(f"`{key}`" in DOCUMENT, f"docs/idl-json.md does not tell of `{key}`")


def every_file(compiler, output):
    files = sorted((TREE / "idl").glob("*.idl")) + sorted(OMG.rglob("*.idl"))
    folders = [word for folder in (OMG, OMG / "COS", TREE / "idl") for word in ("-I", folder)]
    count = 0
    for path in files:
        directory = output / str(path.parent).strip("/").replace("/", "_")
        result = run(compiler, "--backend=json", *folders, "-o", directory, path, directory=output)
        check(result.returncode == 0, f"{path}: {result.stderr}")
        if result.returncode == 0:
            check_invariants(path.name, json.loads((directory / f"{path.stem}.json").read_text()))
            count += 1
    check(count >= len(list((TREE / "idl").glob("*.idl"))), "ours at least")
    return count


def command_line(compiler, output):
    """Options of another back end, and who may overwrite whose file."""
    (output / "a").mkdir()
    (output / "b").mkdir()
    for folder in ("a", "b"):
        (output / folder / "t.idl").write_text("typedef long T;\n")
    result = run(compiler, "--backend=json", "--no-any", "a/t.idl", directory=output)
    check(result.returncode == 2 and "--no-any is an option of --backend=cpp" in result.stderr,
          f"an option of cpp: {result.stderr}")
    check(run(compiler, "--backend=json", "a/t.idl", directory=output).returncode == 0, "a")
    check(run(compiler, "--backend=json", "a/t.idl", directory=output).returncode == 0, "a again")
    result = run(compiler, "--backend=json", "b/t.idl", directory=output)
    check(result.returncode == 1 and "was generated from 'a/t.idl'" in result.stderr,
          f"another's: {result.stderr}")
    result = run(compiler, "--backend=json", "--root", ".", "a/t.idl", "b/t.idl", directory=output)
    check(result.returncode == 0 and (output / "b/t.json").exists(), f"--root: {result.stderr}")


def main():
    compiler = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        output = pathlib.Path(temporary)
        document = golden(compiler, output, "--update" in sys.argv)
        check_constructs(document)
        check_document(document)
        command_line(compiler, output)
        print(f"{every_file(compiler, output)} files")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
