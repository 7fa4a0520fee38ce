#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs programs of examples/ that need nobody else, and compares what they print.
import re
import subprocess
import sys

EXPECTED = {
    "bidirectional_ticker": "KRO 41.500000\nKRO 42.000000\n",
    "answerlater_region":
        "measured 18\nmeasured 21\n19.5 degrees on average\nout of order: frozen\n",
    "asynchronous_stations":
        "all are asked\n18.5 degrees\n21 degrees\nout of order: frozen\n",
    "coroutines_stations":
        "18 degrees\n21 degrees\nout of order: frozen\nnot asked any more\n18 degrees\n",
    "dynany_print":
        'reading:\n  sensor: "boiler"\n  values: \n    - 71.5\n    - 72\n',
    "events_within": "first: roof 18.5\nsecond: roof 18.5\nreceived 1, delivered 2\n",
    "logs_alarms": "of pumps:\n1: pump 1 is hot\n3: pump 3 stands still\nmore than 50 % are used\n",
    "notification_sensors":
        "hot: boiler 71\nhot: oven 180\nboiler: boiler 64\nboiler: boiler 71\n"
        "received 4, delivered 4\n",
    "filters_archive":
        "asked: erase_all by 127.0.0.1\nerase_all: NO_PERMISSION\n"
        "asked: rebuild_index by 127.0.0.1\nasked: find by 127.0.0.1\n"
        "asked: find by 127.0.0.1\nfind: TRANSIENT\n"
        "find: served by kairos-pool-0\nrebuild_index: served by kairos-pool-1\n",
    "gateway_bridge": "Hello, world!\n",
    "interceptors_safe":
        "the server refuses 127.0.0.1\nopen was refused in time\nno permission\n"
        "the safe is traced: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n"
        "open was answered in time\nwhat is in drawer 7\n",
    "lifecycle_documents":
        'created: "a plan" in Paris\ncopied and changed: "a draft" in Rome\n'
        'moved, by the same reference: "a plan" in Rome\nremoved: gone\n',
    # Of this host, whatever it is called and has; at least loopback is there.
    "mib_agent": re.compile(r"-1: the host has no interface with this index\n"
                            r"(ifDescr\.\d+ = \S+, IDL:MIB/NetworkInterface:1\.0\n)+"
                            r"sysDescr = Linux \S+ \S+\nsysName = \S+\nsysUpTime = [1-9]\d*\n"),
    "poa_active_objects": "ann has 10\nbob has 10\n",
    "poa_default_servant": "ann has 10\nbob has 10\n",
    "poa_servant_activator":
        "loading ann\nann has 10\nloading bob\nbob has 10\nsaving ann\nsaving bob\n",
    "poa_servant_locator": "ann, who has moved, has 0\nbob has 0\n",
    "realtime_plant":
        "pump: called at 500, served at 1000\nvalve: called at 500, served at 30000\n"
        "journal: called at 500, served at 500\njournal: called at 30000, served at 30000\n",
    "repository_lamp": "Lamp\n  attribute is_on\n  operation turn\n",
    "scheduling_avionics":
        "20 Hz, priority 32767: Aircraft::control_flight Aircraft::read_sensors\n"
        "10 Hz, priority 32433: Aircraft::navigate\n"
        "5 Hz, priority 32099: Aircraft::refresh_display\n"
        "1 Hz, priority 31764: Aircraft::diagnose\n",
    "trading_printers":
        "the idle one prints: a letter\nnobody prints: a memo\nthe one upstairs prints: a poster\n",
    "transport_vault": "with the key: box 7 holds a letter\nwithout the key: no answer\n",
}

# What those are told that else go on until they are ended.
ARGUMENTS = {"mib_agent": ["--walk"]}

failed = False
for program in sys.argv[1:]:
    name = program.rpartition("/")[2]
    ended = subprocess.run([program, "-ORBListenEndpoints", "iiop://127.0.0.1",
                            *ARGUMENTS.get(name, [])],
                           capture_output=True, text=True, timeout=60, check=False)
    # Objects are saved in any order, and what threads print comes in any.
    printed, expected = sorted(ended.stdout.splitlines()), EXPECTED[name]
    if isinstance(expected, re.Pattern):
        good = expected.fullmatch("".join(f"{line}\n" for line in printed))
    else:
        good = printed == sorted(expected.splitlines())
    if ended.returncode != 0 or not good:
        print(f"{name}: exit status {ended.returncode}\n{ended.stdout}{ended.stderr}")
        failed = True
sys.exit(failed)
