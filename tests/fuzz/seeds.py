#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes the seeds of orb.server, orb.client and nameserver.service into fuzz/corpus/: an input for
# each operation, each kind of message and each way in which an answer leads on. What fuzzing adds
# there has other names and stays.
import pathlib
import struct

CORPUS = pathlib.Path(__file__).resolve().parent.parent.parent / "fuzz" / "corpus"
REQUEST, REPLY, CANCEL, LOCATE, LOCATED, CLOSE, ERROR, FRAGMENT = range(8)
END = b"~~end~~\n"  # of a connection of orb.client


class Cdr:
    """Little-endian CDR; `offset` octets stand in front."""

    def __init__(self, offset=0):
        self.offset = offset
        self.octets = b""

    def align(self, size):
        self.octets += bytes(-(self.offset + len(self.octets)) % size)
        return self

    def number(self, code, value):
        self.align(struct.calcsize(code))
        self.octets += struct.pack("<" + code, value)
        return self

    def raw(self, octets):
        self.octets += octets
        return self

    def u8(self, value):
        return self.number("B", value)

    def u16(self, value):
        return self.number("H", value)

    def u32(self, value):
        return self.number("I", value)

    def sequence(self, octets):
        return self.u32(len(octets)).raw(octets)

    def string(self, text):
        return self.sequence(text.encode() + b"\0")

    def wstring(self, text):
        return self.sequence(text.encode("utf-16-be"))

    def any(self, kind, fill=lambda cdr: cdr):
        return fill(self.u32(kind))


def encapsulation(fill):
    return fill(Cdr().u8(1)).octets


def message(kind, fill, minor=2, flags=1):
    body = fill(Cdr(12)).octets
    return b"GIOP" + bytes([1, minor, flags, kind]) + struct.pack("<I", len(body)) + body


def request(key, operation, fill=None, minor=2, identifier=1, response=3, contexts=(), flags=1):
    def head(cdr):
        def add_contexts():
            cdr.u32(len(contexts))
            for tag, data in contexts:
                cdr.u32(tag).sequence(data)

        if minor >= 2:
            cdr.u32(identifier).u8(response).raw(bytes(3)).u16(0).sequence(key)
            cdr.string(operation)
            add_contexts()
        else:
            add_contexts()
            cdr.u32(identifier).u8(response & 1).raw(bytes(3 if minor else 0)).sequence(key)
            cdr.string(operation).u32(0)
        return fill(cdr.align(8) if minor >= 2 else cdr) if fill else cdr

    return message(REQUEST, head, minor, flags)


def reply(status, fill=None, identifier=1, minor=2):
    def head(cdr):
        cdr.u32(identifier).u32(status).u32(0) if minor >= 2 else \
            cdr.u32(0).u32(identifier).u32(status)
        return fill(cdr.align(8) if minor >= 2 else cdr) if fill else cdr

    return message(REPLY, head, minor)


def located(status, fill=lambda cdr: cdr, identifier=1):
    return message(LOCATED, lambda cdr: fill(cdr.u32(identifier).u32(status)))


def local_reference(cdr, path="@other", port=0, type_id="IDL:Fuzz/Target:1.0"):
    """One that orb.client reaches; with a port also one that nobody answers at."""
    here = encapsulation(lambda c: c.align(8).raw(b"kairos-fuzz-host").u32(1).number("h", -1)
                         .u8(200).string(path))
    profile = encapsulation(lambda c: c.raw(b"\1\2").string("127.0.0.1").u16(port)
                            .sequence(b"key").u32(1).u32(0x4B524F02).sequence(here))
    return cdr.string(type_id).u32(1).u32(0).sequence(profile)


def system_exception(cdr, name, completed=1):
    return cdr.string(f"IDL:omg.org/CORBA/{name}:1.0").u32(0).u32(completed)


def nodes(depth, width):
    def fill(cdr):
        if depth == 0:
            return cdr.u32(0)
        cdr.u32(width)
        for _ in range(width):
            nodes(depth - 1, width)(cdr)
        return cdr

    return fill


def links(cdr):
    cdr.u32(2)
    for number in range(2):  # each with a next one, which has none
        cdr.u32(0x7FFFFF02).string("IDL:Fuzz/Link:1.0").number("i", number)
        cdr.u32(0x7FFFFF02).string("IDL:Fuzz/Link:1.0").number("i", 9).u32(0).string("b")
        cdr.string("a")
    return cdr


# Both of arguments and of results: what is given is returned.
VALUES = {
    "give_octets": lambda c: c.sequence(b"octets"),
    "give_points": lambda c: c.u32(2).number("i", 1).number("d", 2).u8(3).number("i", 4)
    .number("d", 5).u8(6),
    "give_strings": lambda c: c.u32(2).string("a").string("bc"),
    "give_wide": lambda c: c.u32(1).wstring("wide"),
    "give_records": lambda c: c.u32(1).string("r").sequence(b"12").any(3, lambda a: a.u32(7)),
    "give_nodes": nodes(3, 2),
    "give_choices": lambda c: nodes(1, 2)(c.u32(3).u32(0).u32(5).u32(1).string("t").u32(2)),
    "give_anys": lambda c: c.u32(3).any(0).any(18, lambda a: a.u32(0).string("text"))
    .any(19, lambda a: a.sequence(encapsulation(lambda e: e.u32(3).u32(0))).u32(1).u32(8)),
    "give_objects": lambda c: local_reference(c.u32(2).string("").u32(0)),
    "give_links": links,
    "give_types": lambda c: c.u32(3).u32(3).u32(12).u32(21).sequence(
        encapsulation(lambda e: e.string("IDL:A:1.0").string("A").u32(18).u32(0))),
    "give_matrix": lambda c: [c.number("i", i) for i in range(6)] and c.u32(1),
    "give_money": lambda c: c.raw(b"\x12\x34\x56\x78\x9c"),
    "give_boxed": lambda c: c.u32(0x7FFFFF00).string("boxed"),
    "refuse": lambda c: c.any(8, lambda a: a.u8(1)),
}


def server_seeds():
    key = b"fuzz/target"
    calls = {
        "ping": None,
        "_get_level": None,
        "_set_level": lambda c: c.number("i", 3),
        "note": lambda c: c.string("noted"),
        "numbers": lambda c: c.number("h", 1).number("q", 2).number("d", 3).u8(1).u8(65),
        "texts": lambda c: c.string("narrow").wstring("wide"),
        "_is_a": lambda c: c.string("IDL:Fuzz/Other:1.0"),
        "_non_existent": None,
        "_interface": None,
        "_component": None,
        "no_such": None,
        **VALUES,
    }
    code_sets = encapsulation(lambda c: c.u32(0x05010001).u32(0x00010109))
    seeds = {name.lstrip("_"): b"\0" + request(
        key, name, fill, contexts=[(1, code_sets)] if name in ("texts", "give_wide") else ())
             for name, fill in calls.items()}
    for minor in (0, 1):
        seeds[f"giop_1_{minor}"] = b"\0" + request(key, "give_strings", VALUES["give_strings"],
                                                  minor=minor)
    seeds["no_code_sets"] = b"\0" + request(key, "texts", calls["texts"])
    priority = encapsulation(lambda c: c.number("h", 100))
    seeds["priority"] = b"\0" + request(key, "ping", contexts=[(10, priority)])
    seeds["refused"] = b"\0" + request(b"fuzz/refuses", "refuse", VALUES["refuse"]) \
        + request(b"fuzz/refuses", "ping", identifier=2)
    seeds["nobody"] = b"\0" + request(b"fuzz/none", "ping") \
        + request(b"none", "ping", identifier=2) + request(b"", "_is_a", calls["_is_a"], 2, 3)
    seeds["several"] = b"\7" + b"".join(
        request(key, name, fill, identifier=number, minor=number % 3)
        for number, (name, fill) in enumerate(list(calls.items())[:6]))
    locate = [message(LOCATE, lambda c, name=name: c.u32(1).u16(0).sequence(name))
              for name in (key, b"fuzz/none", b"none")]
    seeds["locate"] = b"\0" + b"".join(locate)
    first = request(key, "give_octets", lambda c: c.u32(140).raw(bytes(100)), flags=3)
    seeds["cut_in_two"] = b"\0" + first + message(FRAGMENT, lambda c: c.u32(1).raw(bytes(40)))
    seeds["fragments"] = b"\5" + request(key, "give_octets", lambda c: c.u32(64).raw(bytes(4)),
                                         flags=3) + \
        message(FRAGMENT, lambda c: c.u32(1).raw(bytes(24)), flags=3) + \
        message(FRAGMENT, lambda c: c.u32(1).raw(bytes(36)))
    seeds["control"] = b"\0" + message(CANCEL, lambda c: c.u32(1)) + request(key, "ping") \
        + message(CLOSE, lambda c: c)
    seeds["error"] = b"\0" + message(ERROR, lambda c: c)
    seeds["believed_again"] = b"\0" + request(
        key, "give_nodes", lambda c: [c.u32((4000 - 4 * i) // 4) for i in range(1000)] and c)
    seeds["oneway"] = b"\0" + request(key, "note", calls["note"], response=0) \
        + request(key, "ping", response=0, identifier=2)
    seeds["sync_with_server"] = b"\0" + request(key, "note", calls["note"], response=1)
    return seeds


def client_seeds():
    # As client_fuzz.cpp numbers them.
    results = {
        0: lambda c: c,
        2: lambda c: c.number("i", 1).number("d", 2),
        3: lambda c: c.string("a").wstring("b"),
        4: VALUES["give_octets"], 5: VALUES["give_nodes"], 6: VALUES["give_choices"],
        7: VALUES["give_anys"], 8: VALUES["give_objects"], 9: VALUES["give_links"],
        10: VALUES["give_types"], 11: VALUES["refuse"],
        13: lambda c: c.u8(0), 14: lambda c: c.u8(1), 15: lambda c: c.number("i", 4),
    }
    seeds = {f"call_{which}": bytes([which, 0]) + reply(0, fill) + reply(0, identifier=2)
             + reply(0, identifier=3) for which, fill in results.items()}
    user = lambda c: c.string("IDL:Fuzz/Refused:1.0").string("why").number("i", 1)
    here = lambda c: c.u32(0)
    seeds.update({
        "user_exception": b"\x0b\0" + reply(1, user),
        "unlisted_exception": b"\0\0" + reply(1, user),
        "system_exception": b"\0\0" + reply(2, lambda c: system_exception(c, "TRANSIENT")),
        "unknown_exception": b"\0\0" + reply(2, lambda c: system_exception(c, "NO_SUCH")),
        "forward": b"\0\0" + reply(3, local_reference) + END + reply(0),
        "forward_for_good": b"\0\0" + reply(4, local_reference) + END + reply(0),
        "forward_nowhere": b"\0\0" + reply(3, lambda c: local_reference(c, port=1)) + END
        + reply(0),
        "forward_to_nil": b"\0\0" + reply(3, lambda c: c.string("").u32(0)),
        "forward_on": b"\x20\7" + b"".join(
            reply(3, lambda c, n=n: local_reference(c, f"@{n}")) + END for n in range(4))
        + reply(0),
        "forwarded_and_lost": b"\0\0" + reply(3, local_reference) + END + END + reply(0),
        "readdress_key": b"\0\0" + reply(5, lambda c: c.u16(0)) + reply(0, identifier=2),
        "readdress_profile": b"\0\0" + reply(5, lambda c: c.u16(1)) + reply(0, identifier=2),
        "readdress_reference": b"\0\0" + reply(5, lambda c: c.u16(2)) + reply(0, identifier=2),
        "late_replies": b"\0\0" + reply(0, identifier=9) + reply(0, identifier=0) + reply(0),
        "closed": b"\0\0" + message(CLOSE, lambda c: c) + END + reply(0),
        "message_error": b"\0\0" + message(ERROR, lambda c: c),
        "request": b"\0\0" + request(b"key", "ping"),
        "fragments": b"\4\3" + message(
            REPLY, lambda c: c.u32(1).u32(0).u32(0).align(8).u32(64).raw(bytes(4)), flags=3)
        + message(FRAGMENT, lambda c: c.u32(1).raw(bytes(16)), flags=3)
        + message(FRAGMENT, lambda c: c.u32(1).raw(bytes(44))),
        "giop_1_0": b"\4\0" + reply(0, results[4], minor=0),
        "here": b"\x0c\0" + located(1) + reply(0, identifier=2),
        "unknown": b"\x0c\0" + located(0),
        "elsewhere": b"\x0c\0" + located(2, local_reference) + END + located(1) + reply(0),
        "elsewhere_for_good": b"\x0c\0" + located(3, local_reference) + END + located(1),
        "locate_raises": b"\x0c\0" + located(4, lambda c: system_exception(c, "NO_PERMISSION")),
        "locate_otherwise": b"\x0c\0" + located(5, lambda c: c.u16(2))
        + located(1, identifier=2),
        "locate_answered_late": b"\x0c\0" + located(1, identifier=7) + located(1),
        "believed_again": b"\5\0" + reply(
            0, lambda c: [c.u32((4000 - 4 * i) // 4) for i in range(1000)] and c),
        "nothing": b"\0\0" + here(Cdr()).octets,
    })
    return seeds


def context_key(number):
    escaped = "".join(f"%{octet:02x}" for octet in struct.pack(">QQ", 1, number))
    return b"NameService/" + escaped.encode()


def naming_seeds():
    root = context_key(1)

    def name(*components):
        def fill(cdr):
            cdr.u32(len(components))
            for component in components:
                cdr.string(component).string("kind")
            return cdr
        return fill

    def bind(*components, operation="bind", key=root, identifier=1, port=1):
        return request(key, operation, lambda c: local_reference(name(*components)(c), port=port),
                       identifier=identifier)

    def context(cdr):
        profile = encapsulation(lambda c: c.raw(b"\1\2").string("127.0.0.1").u16(1)
                                .sequence(context_key(2)).u32(0))
        return cdr.string("IDL:omg.org/CosNaming/NamingContextExt:1.0").u32(1).u32(0) \
            .sequence(profile)

    def call(operation, fill=None, identifier=2, key=root):
        return request(key, operation, fill, identifier=identifier)

    listing = lambda count: lambda c: c.u32(count)
    made = call("bind_new_context", name("c"), 1)
    return {
        "bind": b"\0" + bind("a") + call("resolve", name("a")) + call("unbind", name("a"), 3),
        "bind_again": b"\0" + bind("a") + bind("a", identifier=2)
        + bind("a", operation="rebind", identifier=3),
        "resolve_nothing": b"\0" + call("resolve", name("a", "b")),
        "bind_new_context": b"\0" + made + bind("c", "d", identifier=2)
        + call("resolve", name("c", "d"), 3) + call("destroy", None, 4, context_key(2)),
        "new_context": b"\0" + call("new_context", None, 1)
        + request(root, "bind_context", lambda c: context(name("n")(c)), identifier=2)
        + call("resolve", name("n", "x"), 3) + bind("n", "x", identifier=4),
        "rebind_context": b"\0" + request(root, "rebind_context",
                                          lambda c: context(name("n")(c))),
        "destroy": b"\0" + made + call("destroy", None, 3, context_key(2))
        + call("resolve", name("c", "x"), 4),
        "list": b"\0" + b"".join(bind(f"n{n}", identifier=n) for n in range(5))
        + call("list", listing(2), 9) + call("list", listing(0), 10)
        + call("list", listing(0xFFFFFFFF), 11),
        "to_string": b"\0" + call("to_string", name("a", "b.c")),
        "to_name": b"\0" + call("to_name", lambda c: c.string("a.kind/b\\.c/d")),
        "to_url": b"\0" + call("to_url", lambda c: c.string(":localhost").string("a/b")),
        "resolve_str": b"\0" + bind("a") + call("resolve_str", lambda c: c.string("a.kind")),
        "is_a": b"\0" + call("_is_a", lambda c: c.string("IDL:omg.org/CosNaming/Other:1.0")),
        "no_context": b"\0" + call("resolve", name("a"), 1, context_key(7)),
        "no_key": b"\0" + call("resolve", name("a"), 1, b"NameService/%00"),
        "empty_name": b"\0" + call("resolve", lambda c: c.u32(0)) + call("unbind",
                                                                         lambda c: c.u32(0), 3),
        "long_name": b"\0" + call("resolve", name(*["n"] * 200)),
        "in_pieces": b"\5" + bind("a") + call("resolve", name("a")),
        "by_name": b"\0" + call("resolve", name("a"), 1, b"NameService"),
    }


def main():
    for target, seeds in (("orb.server", server_seeds()), ("orb.client", client_seeds()),
                          ("nameserver.service", naming_seeds())):
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, octets in seeds.items():
            (folder / name).write_bytes(octets)
        print(f"{target}: {len(seeds)} seeds")


if __name__ == "__main__":
    main()
