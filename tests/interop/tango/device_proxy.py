#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# TANGO's client in Python uses a device of Kairos: `device_proxy.py PORT NAME` prints a line for
# each check, "ok" and what was checked, or what was wrong; the last one is "done". It exits with 77
# where there is no such client.
import sys

try:
    import tango
except ImportError:
    sys.exit(77)

device = tango.DeviceProxy(f"tango://127.0.0.1:{sys.argv[1]}/{sys.argv[2]}#dbase=no")


def check(what, got, expected):
    if hasattr(got, "tolist"):
        got = got.tolist()
    print(f"ok {what}" if got == expected else f"{what}: {got!r} is not {expected!r}")


def failure(call):
    try:
        call()
    except tango.DevFailed as failed:
        return failed.args[0].reason
    return "nothing failed"


check("ping", device.ping() >= 0, True)
check("name", device.name(), "sys/kairos/1")
check("description", device.description(), "a device of Kairos")
check("adm_name", "/dserver/kairos/test#" in device.adm_name(), True)
check("state", device.state(), tango.DevState.MOVING)
check("status", device.status(), "it moves")
check("info", device.info().dev_class, "Kairos")
check("idl version", device.get_idl_version(), 5)

commands = device.command_list_query()
check("commands", len(commands), 25)
check("the first command", commands[0].cmd_name, "DevBoolean")
for name, values in {
    "DevBoolean": [True, False],
    "DevShort": [0, -32768, 32767],
    "DevUShort": [65535],
    "DevLong": [-(2**31), 2**31 - 1],
    "DevULong": [2**32 - 1],
    "DevLong64": [-(2**63), 2**63 - 1],
    "DevULong64": [2**64 - 1],
    "DevFloat": [0.5],
    "DevDouble": [-2.5, 1e300],
    "DevString": ["", "text", "x" * 20_000],
    "DevVarCharArray": [[0, 1, 255]],
    "DevVarShortArray": [[-1, 2], [7]],
    "DevVarUShortArray": [[1, 65535]],
    "DevVarLongArray": [[-(2**31), 2, 3]],
    "DevVarULongArray": [[2**32 - 1]],
    "DevVarLong64Array": [[-(2**63), 1]],
    "DevVarULong64Array": [[2**64 - 1, 0]],
    "DevVarFloatArray": [[0.5, -1.5]],
    "DevVarDoubleArray": [[1e300, -0.25], [float(i) for i in range(5_000)]],
    "DevVarStringArray": [["one", "", "three"]],
}.items():
    for value in values:
        check(name, device.command_inout(name, value), value)
for name, numbers in (
    ("DevVarLongStringArray", [1, -2]),
    ("DevVarDoubleStringArray", [0.5, -2.5]),
):
    got = device.command_inout(name, (numbers, ["a", ""]))
    check(name, [got[0].tolist(), got[1]], [numbers, ["a", ""]])
check("State", device.command_inout("State"), tango.DevState.MOVING)
check("Fail", failure(lambda: device.command_inout("Fail")), "API_Asked")
check("Nonsense", failure(lambda: device.command_inout("Nonsense")), "API_CommandNotFound")

check("attributes", len(device.get_attribute_list()), 15)
check("unit", device.get_attribute_config("double").unit, "mm")
for name, value, other in (
    ("boolean", True, False),
    ("short", -2, 32767),
    ("long", -70000, 5),
    ("long64", -5, -(2**63)),
    ("float", 0.5, -0.25),
    ("double", -2.5, 1e300),
    ("uchar", 255, 0),
    ("ushort", 65535, 1),
    ("ulong", 4_000_000_000, 7),
    ("ulong64", 2**64 - 1, 3),
    ("string", "text", "another"),
    ("doubles", [1, -2.25, 1e300], [5.0, 6.0]),
    ("shorts", [[1, 2, 3], [-4, -5, -6]], [[1, 2], [3, 4], [5, 6]]),
):
    check(name, device.read_attribute(name).value, value)
    device.write_attribute(name, other)
    read = device.read_attribute(name)
    check(f"{name}, written", read.value, other)
    check(f"{name}, set", read.w_value, other)
check("strings", list(device.read_attribute("strings").value), ["one", "", "three"])
encoded = device.read_attribute("encoded")
check("encoded", [encoded.value[0], list(encoded.value[1])], ["RAW", [1, 0, 255]])
check("time", encoded.time.totime(), 1_700_000_000.25)
several = device.read_attributes(["double", "nothing", "string"])
check("several", [each.has_failed for each in several], [False, True, False])
check("several, a value", several[2].value, "another")
check("nothing", failure(lambda: device.read_attribute("nothing")), "API_AttrNotFound")
check("read-only", failure(lambda: device.write_attribute("strings", ["x"])), "API_AttrNotWritable")
pipe = device.read_pipe("pipe")
check("pipe", [pipe[0], [list(each["value"]) for each in pipe[1]]], ["blob", [[5], ["another"]]])
print("done")
