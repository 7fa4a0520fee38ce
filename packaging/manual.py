#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Manual pages and bash completions of programs, made of what `PROGRAM --option-model` prints
# (packaging/option_model.h), so that they say what --help says. A program has a page, each of its
# commands one of its own: kairos(1), kairos-ior(1); what commands within a command do is on its
# page.
#     packaging/manual.py --version 1.2.3 --man DIR --completions DIR PROGRAM…
import argparse
import gzip
import json
import pathlib
import re
import subprocess
import sys

# What values are: how completion finds some, by the name that --help gives them.
FILES = {"FILE", "REFERENCE", "STORE"}
FOLDERS = {"DIR"}
PROGRAMS = {"PROGRAM"}
OF_OBJECTS = "operations"
NUMBERS = {"INT": "N", "UINT": "N", "FLOAT": "NUMBER"}


def model_of(program):
    text = subprocess.run([program, "--option-model"], check=True, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL).stdout
    return json.loads(text)


# ---- what options say -------------------------------------------------------------------------


def value_of(option):
    """(what --help calls the value, what is said of it) of "TEXT:{a,b}" or "INT:INT in [1 - 9]"."""
    name, _, rule = option["type"].partition(":")
    return NUMBERS.get(name, name), rule


def choices_of(option):
    listed = re.fullmatch(r"\{([^{}]*)\}", value_of(option)[1])
    return listed[1].split(",") if listed else []


def or_list(words):
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def sentences(option):
    """All that there is to say of an option, as sentences."""
    said = [option["text"]]
    rule = value_of(option)[1]
    limits = re.fullmatch(r"\w+ in \[(\S+) - (\S+)\]", rule)
    if limits:
        said.append(f"From {limits[1]} to {limits[2]}")
    elif rule and not choices_of(option):
        said.append(rule)
    if option["required"] and option["names"]:
        said.append("Must be given")
    if option["default"]:
        said.append(f"{option['default']} unless given")
    if option["variable"]:
        said.append(f"The environment's {option['variable']} unless given")
    if option["needs"]:
        said.append(f"Only with {or_list(option['needs'])}")
    if option["excludes"]:
        said.append(f"Not with {or_list(option['excludes'])}")
    return " ".join(part if part.endswith(".") else part + "." for part in said if part)


# ---- manual pages -----------------------------------------------------------------------------


def roff(text):
    """Text as troff reads it: dashes that can be copied, nothing taken for a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def bold(text):
    return f"\\fB{roff(text)}\\fR"


def italic(text):
    return f"\\fI{roff(text)}\\fR"


def operand(option):
    """A positional argument as the synopsis has it."""
    text = italic(option["positional"]) + (" …" if option["several"] else "")
    return text if option["required"] else f"[{text}]"


def synopsis(path, command):
    words = [bold(path)]
    if any(option["names"] for option in command["options"]):
        words.append("[" + italic("OPTION") + "]…")
    words += [operand(option) for option in command["options"] if option["positional"]]
    if command["commands"]:
        word = italic("COMMAND") + " …"
        words.append(word if command["command_required"] else f"[{word}]")
    return " ".join(words)


def option_items(options):
    lines = []
    for option in options:
        if option["names"]:
            title = ", ".join(bold(name) for name in option["names"])
            if choices_of(option):
                title += " " + "|".join(bold(choice) for choice in choices_of(option))
            elif option["type"]:
                title += " " + italic(value_of(option)[0])
            title += " …" if option["several"] else ""
        else:
            title = italic(option["positional"])
        lines += [".TP", title, roff(sentences(option))]
    return lines


def footer_sections(footer):
    """Paragraphs of a footer that begin with "Title:" are sections of that title."""
    lines = []
    for paragraph in filter(None, footer.split("\n")):
        title, colon, text = paragraph.partition(": ")
        if not colon or len(title) > 30:
            title, text = "Notes", paragraph
        lines += [f".SH {roff(title.upper())}", roff(text)]
    return lines


def command_page(path, command, above, version, others):
    """The page of a command; `above` are the commands it belongs to, `others` pages to read."""
    name = path.replace(" ", "-")
    lines = [f'.TH {roff(name.upper())} 1 "" "Kairos {roff(version)}" "Kairos"', ".SH NAME",
             f"{roff(name)} \\- {roff(command['text'].rstrip('.'))}", ".SH SYNOPSIS",
             synopsis(path, command)]
    if not above and command["commands"]:
        lines.append(".SH COMMANDS")
        for inner in command["commands"]:
            lines += [".TP", bold(f"{path} {inner['name']}"),
                      f"{roff(inner['text'])}; see {bold(name + '-' + inner['name'])}(1)."]
    elif command["commands"]:
        lines.append(".SH COMMANDS")
        for inner in command["commands"]:
            lines += [f".SS {roff(inner['name'])}", synopsis(f"{path} {inner['name']}", inner),
                      ".PP", roff(sentences(inner | {"type": "", "required": False, "default": "",
                                                     "variable": "", "needs": [], "excludes": []}))]
            lines += option_items(option for option in inner["options"]
                                  if "--help" not in option["names"])
    lines.append(".SH OPTIONS")
    lines += option_items(sorted(command["options"], key=lambda option: bool(option["names"])))
    for place in [command] + above:
        lines += footer_sections(place["footer"])
    if others:
        lines += [".SH SEE ALSO", ",\n".join(f"{bold(other)}(1)" for other in others)]
    return name, "\n".join(lines) + "\n"


def pages(model, version, others):
    """(name, roff) of every page of a program."""
    program = model["name"]
    inner = [f"{program}-{command['name']}" for command in model["commands"]]
    yield command_page(program, model, [], version, inner + others)
    for command in model["commands"]:
        path = f"{program} {command['name']}"
        yield command_page(path, command, [model], version, [program])


# ---- completion -------------------------------------------------------------------------------

# Operations of an object are asked for: the program prints them where it is given a reference and
# no operation. What it prints is a stranger's: only identifiers are taken from it.
OPERATIONS = """\
@function@_operations()
{
    # The words as they were typed: COMP_WORDS has references in pieces, broken at colons.
    local -a typed=() asked=() given=()
    local line=${COMP_LINE:0:COMP_POINT} word is_value= is_within=
    read -ra typed <<<"$line"
    [[ $line == *[[:space:]] ]] || unset 'typed[-1]'
    for word in "${typed[@]:1}"; do
        if [[ -z $is_within ]]; then
            [[ $word != "$1" ]] || is_within=yes
        elif [[ -n $is_value ]]; then
            asked+=("$word") is_value=
        else
            case $word in
            @valued@ | -ORB*) asked+=("$word") is_value=yes ;;
            -?*) asked+=("$word") ;;
            *) given+=("${word/#\\~\\//$HOME/}") ;;
            esac
        fi
    done
    [[ ${#given[@]} == 1 && -z $is_value ]] || return
    timeout 5 "${COMP_WORDS[0]}" "$1" "${asked[@]}" "${given[0]}" </dev/null 2>/dev/null |
        sed -nE -e 's/^  //; T; s/\\s(raises|getraises)\\b.*//; s/\\(.*//' \\
            -e 's/^.* _?([A-Za-z]\\w*)$/\\1/p'
}
"""

COMPLETION = """\
# bash completion of @program@                                 -*- shell-script -*-
# Made of the program's own options.
@operations@
@function@()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local path=@program@ options= words= values= i
    # bash takes --option=value for three words.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = && $COMP_CWORD -gt 1 ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case "$path ${COMP_WORDS[i]}" in
@paths@
        esac
    done
    case $path in
@commands@
    esac
    case "$path $previous" in
@values@
    *) [[ $current == -* ]] && words=$options values= ;;
    esac
    if [[ $values == operations ]]; then
        words=$(@function@_operations "${path##* }")
        [[ -n $words ]] || values=files
    fi
    case $values in
    files) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    folders) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    programs) mapfile -t COMPREPLY < <(compgen -c -- "$current" && compgen -f -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") && return ;;
    esac
    compopt -o filenames 2>/dev/null
    return 0
} && complete -F @function@ @program@
"""


def kind_of(option):
    name = value_of(option)[0]
    if name == "OPERATION":
        return OF_OBJECTS
    return ("files" if name in FILES else "folders" if name in FOLDERS
            else "programs" if name in PROGRAMS else "")


def walk(path, command, inherited):
    """(path, command, its options and those that may stand behind it) of every command."""
    options = inherited + command["options"] if command["fallthrough"] else command["options"]
    yield path, command, options
    for inner in command["commands"]:
        yield from walk(f"{path} {inner['name']}", inner, options)


def completion(model):
    """The text of bash's completion of a program."""
    program = model["name"]
    paths, commands, values, asking = [], [], [], set()
    for path, command, options in walk(program, model, []):
        if path != program:
            paths.append(f"        '{path}')\n            path='{path}' ;;")
        names = [name for option in options for name in option["names"]]
        words = [inner["name"] for inner in command["commands"]]
        kinds = {kind_of(option) for option in command["options"] if option["positional"]} - {""}
        if OF_OBJECTS in kinds:  # behind a reference, which is a file
            kinds = {OF_OBJECTS}
            asking |= {name for option in options if option["type"] for name in option["names"]}
        commands.append(f"    '{path}')\n"
                        f"        options='{' '.join(dict.fromkeys(names))}'\n"
                        f"        words='{' '.join(words)}' values='{''.join(sorted(kinds))}' ;;")
        for option in options:
            if not option["names"] or not option["type"]:
                continue
            known = " | ".join(f"'{path} {name}'" for name in option["names"])
            values.append(f"    {known})\n        words='{' '.join(choices_of(option))}' "
                          f"values='{kind_of(option)}' ;;")
    operations = OPERATIONS.replace("@valued@", " | ".join(sorted(asking))) if asking else ""
    text = COMPLETION.replace("@operations@\n", operations)
    text = text.replace("@function@", "_" + program.replace("-", "_"))
    for mark, lines in (("paths", paths), ("commands", commands), ("values", values)):
        text = text.replace(f"@{mark}@\n", "".join(line + "\n" for line in lines))
    return text.replace("@program@", program)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--man", required=True, type=pathlib.Path)
    parser.add_argument("--completions", required=True, type=pathlib.Path)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    models = [model_of(program) for program in arguments.programs]
    for folder in (arguments.man, arguments.completions):
        folder.mkdir(parents=True, exist_ok=True)
    for model in models:
        others = [other["name"] for other in models if other is not model]
        for name, text in pages(model, arguments.version, others):
            with open(arguments.man / f"{name}.1.gz", "wb") as file:
                # No time and no name in it: the same text is the same file.
                file.write(gzip.compress(text.encode(), mtime=0))
        (arguments.completions / model["name"]).write_text(completion(model))
    return 0


if __name__ == "__main__":
    sys.exit(main())
