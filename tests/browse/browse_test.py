#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What `kairos browse` answers by HTTP: the page's calls, and everybody else's.
#     browse_test.py TOOL AGENT
import ctypes
import http.client
import json
import os
import pathlib
import select
import socket
import subprocess
import sys
import tempfile
import unittest

from programs import Browse, agent

TOOL, AGENT = sys.argv[1:3]
NAMING_IDL = pathlib.Path(__file__).resolve().parents[2] / "idl/CosNaming.idl"
IDL = pathlib.Path(__file__).resolve().parents[2] / "examples/mib/mib.idl"


class Fixture(unittest.TestCase):
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.agent = agent(AGENT)
        cls.addClassCleanup(cls.agent.must_end_well)
        cls.browse = Browse(TOOL, "-ORBInitRef", f"NameService={cls.agent.line}", *cls.arguments)
        cls.addClassCleanup(cls.browse.must_end_well)

    def send(self, method, path, body=None, drop=(), **changed):
        """Status, headers and body. `changed` and `drop` are headers, with _ for -."""
        headers = {"Host": f"127.0.0.1:{self.browse.port}", "Content-Type": "application/json",
                   "X-Kairos-Token": self.browse.token}
        headers.update({name.replace("_", "-"): value for name, value in changed.items()})
        connection = http.client.HTTPConnection("127.0.0.1", self.browse.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if name not in drop:
                connection.putheader(name, value)
        if body is not None and "Content-Length" not in headers:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, response.headers, text

    def call(self, what, **body):
        status, _, text = self.send("POST", f"/api/{what}", json.dumps(body).encode())
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def refused(self, status, *arguments, **changed):
        got, _, text = self.send(*arguments, **changed)
        self.assertEqual(got, status, text)
        return json.loads(text)["error"]

    def raw(self, octets):
        """The status line for octets that no client of HTTP would send."""
        with socket.create_connection(("127.0.0.1", self.browse.port), timeout=60) as connection:
            connection.sendall(octets)
            return connection.makefile("rb").readline().decode()

    def opened(self, name):
        return self.call("open", object=f"name:{name}")


class ThePage(Fixture):
    def test_has_its_files_and_headers(self):
        for path, kind in (("/", "text/html"), ("/browse.js", "text/javascript"),
                           ("/browse.css", "text/css"), ("/favicon.svg", "image/svg+xml")):
            status, headers, text = self.send("GET", path, drop=("X-Kairos-Token", "Content-Type"))
            self.assertEqual(status, 200)
            self.assertTrue(headers["Content-Type"].startswith(kind))
            self.assertTrue(text)
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertNotIn(self.browse.token.encode(), text)

    def test_has_no_other_files(self):
        for path in ("/other", "/../browse.js", "/%2e%2e/etc/passwd", "//", "/" + "a" * 3000):
            self.assertTrue(self.refused(404, "GET", path))


class Calls(Fixture):
    def test_list_names(self):
        self.assertEqual(self.call("roots"), {"names": True, "references": []})
        top = self.call("names", path="")
        self.assertEqual(top, {"bindings": [{"name": "mib", "path": "mib", "context": True}],
                               "more": False})
        below = {one["name"]: one["context"] for one in self.call("names", path="mib")["bindings"]}
        self.assertEqual(below, {"system": False, "interfaces": False, "interface": True})
        self.assertIn("no such name", self.call("names", path="mib/nothing")["error"])
        self.assertIn("not a naming context", self.call("names", path="mib/system")["error"])

    def test_open_by_the_objects_repository(self):
        opened = self.opened("mib/system")
        self.assertEqual(opened["interface"]["name"], "MIB::System")
        self.assertEqual(opened["interface"]["id"], "IDL:MIB/System:1.0")
        self.assertIn("readonly attribute string sysDescr;", opened["interface"]["idl"])
        self.assertTrue(opened["reference"].startswith("IOR:"))
        attributes = {one["name"]: one for one in opened["attributes"]}
        self.assertEqual(attributes["sysUpTime"]["form"], {"input": "integer"})
        self.assertTrue(attributes["sysName"]["readonly"])
        self.assertFalse(attributes["sysContact"]["readonly"])
        status = {one["name"]: one for one in self.opened("mib/interface/lo")["attributes"]}
        self.assertEqual(status["ifAdminStatus"]["form"],
                         {"input": "enum", "values": ["up", "down", "testing"]})

    def test_call_read_and_set(self):
        reference = self.opened("mib/system")["reference"]
        host = socket.gethostname()
        values = self.call("read", object=reference,
                           attributes=["sysName", "sysServices"])["values"]
        self.assertEqual(values["sysName"]["result"], host)
        self.assertEqual(values["sysServices"]["result"], 72)
        hostile = "<script>alert(1)</script> \u2028 \"'&"
        self.assertNotIn("failure", self.call("call", object=reference, operation="_set_sysContact",
                                              arguments=[hostile]))
        self.assertEqual(self.call("call", object=reference, operation="_get_sysContact")["result"],
                         hostile)
        table = self.call("call", object=self.opened("mib/interfaces")["reference"],
                          operation="ifTable", arguments=[])["result"]
        self.assertIn("lo", [row["ifDescr"] for row in table])

    def test_show_exceptions(self):
        interfaces = self.opened("mib/interfaces")["reference"]
        raised = self.call("call", object=interfaces, operation="find", arguments=[-1])["exception"]
        self.assertEqual(raised["name"], "MIB::NoSuchInterface")
        self.assertEqual(raised["members"]["ifIndex"], -1)
        one = self.opened("mib/interface/lo")["reference"]
        failure = self.call("call", object=one, operation="_set_ifAdminStatus",
                            arguments={"value": "down"})["failure"]
        self.assertEqual(failure["name"], "NO_PERMISSION")
        self.assertIn("does not permit", failure["meaning"])

    def test_say_what_makes_no_sense(self):
        reference = self.opened("mib/interfaces")["reference"]
        for operation, arguments, reason in (
                ("find", [], "takes 1 arguments, not 0"), ("find", ["x"], "argument 'ifIndex'"),
                ("find", [1 << 40], "argument 'ifIndex'"), ("find", {"other": 1}, "'ifIndex'"),
                ("nothing", [], "has no operation nothing")):
            said = self.call("call", object=reference, operation=operation, arguments=arguments)
            self.assertIn(reason, said["error"])
        said = self.call("read", object=reference, attributes=["ifNumber", "nothing"])
        self.assertIn("has no attribute nothing", said["error"])
        for url in ("IOR:00", "corbaloc::", "name:mib/nothing", "name:", "ior:zz"):
            answer = self.call("open", object=url)
            self.assertTrue("error" in answer or "failure" in answer, answer)


class FromAFile(Fixture):
    arguments = ("--idl", str(IDL), "--timeout", "5")

    def test_types_are_of_the_file(self):
        self.assertEqual(self.opened("mib/interfaces")["interface"]["name"], "MIB::Interfaces")

    def test_the_server_has_ended(self):
        with agent(AGENT) as other, \
             Browse(TOOL, "-ORBInitRef", f"NameService={other.line}", "--idl", str(IDL)) as browse:
            self.browse, before = browse, self.browse
            reference = self.opened("mib/system")["reference"]
            other.process.kill()
            other.process.wait()
            for answer in (self.call("call", object=reference, operation="_get_sysName"),
                           self.call("read", object=reference, attributes=["sysName", "sysDescr"]),
                           self.call("names", path=""), self.opened("mib/system")):
                self.assertIn(answer["failure"]["name"], ("TRANSIENT", "COMM_FAILURE"), answer)
                self.assertTrue(answer["failure"]["meaning"])
            self.browse = before


class OfOthers(Fixture):
    """An interface that nobody has bound, with types within types: the Naming Service's own."""
    arguments = ("--idl", str(NAMING_IDL), "Names=name:mib/system")

    def test_are_called_with_structs_and_sequences(self):
        self.assertEqual([one["name"] for one in self.call("roots")["references"]], ["Names"])
        opened = self.call("open", object=self.agent.line)
        self.assertEqual(opened["interface"]["bases"], ["CosNaming::NamingContext"])
        operations = {one["name"]: one for one in opened["operations"]}
        self.assertEqual(operations["resolve"]["parameters"][0]["form"],
                         {"input": "json", "template": [], "element": {"id": "", "kind": ""}})
        self.assertEqual(operations["resolve"]["raises"][0],
                         "CosNaming::NamingContext::NotFound")
        listed = self.call("call", object=opened["reference"], operation="list", arguments=[10])
        self.assertEqual(listed["out"]["bl"], [{"binding_name": [{"id": "mib", "kind": ""}],
                                                "binding_type": "ncontext"}])
        self.assertIsNone(listed["out"]["bi"])
        raised = self.call("call", object=opened["reference"], operation="resolve",
                           arguments={"n": [{"id": "nothing", "kind": ""}]})["exception"]
        self.assertEqual(raised["members"]["why"], "missing_node")


    def test_take_references_but_no_files(self):
        names = self.call("open", object=self.agent.line)["reference"]
        given = [{"id": "given", "kind": ""}]

        def bind(reference):
            return self.call("call", object=names, operation="bind", arguments=[given, reference])
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "names.ior"
            file.write_text(self.agent.line)
            for text in (f"file://{file}", f"FILE://{file}", f" file://{file}", str(file), "-", ""):
                self.assertIn("argument 'obj': an object is IOR:", bind(text)["error"])
        self.assertIn("argument 'obj'", bind("name:mib/nothing")["error"])
        bound = bind("name:mib/system")
        self.assertNotIn("error", bound)
        self.assertNotIn("exception", bound)
        found = self.call("call", object=names, operation="resolve", arguments=[given])
        self.assertTrue(found["result"].startswith("IOR:"))
        self.call("call", object=names, operation="unbind", arguments=[given])


class LargeAnswers(Fixture):
    """Of few octets on the wire: members have long names, and the JSON has them for each value."""

    @classmethod
    def setUpClass(cls):
        idl = NAMING_IDL.read_text()
        for member in ("id", "kind"):
            idl = idl.replace(f"Istring {member};", f"Istring {member}{'x' * 60000};")
        # Beside that: an array whose first value would have 36 MB.
        idl = idl.replace("interface NamingContextExt : NamingContext {",
                          "typedef NameComponent Crowd[300];\n"
                          "interface NamingContextExt : NamingContext {\n"
                          "void many(in Crowd these, in Crowd those);")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        file = pathlib.Path(cls.folder.name) / "long_names.idl"
        file.write_text(idl)
        cls.arguments = ("--idl", str(file))
        super().setUpClass()

    def test_are_refused_before_they_are_made(self):
        opened = self.call("open", object=self.agent.line)
        operations = {one["name"]: one for one in opened["operations"]}
        for parameter in operations["many"]["parameters"]:
            self.assertEqual(parameter["form"], {"input": "json", "template": None})
        small = self.call("call", object=opened["reference"], operation="to_name",
                          arguments=["a/b"])["result"]
        self.assertEqual([list(one.values()) for one in small], [["a", ""], ["b", ""]])
        large = self.call("call", object=opened["reference"], operation="to_name",
                          arguments=["/".join("a" * 300)])
        self.assertIn("more than 33554432 octets", large["error"])


class Tunnels(Fixture):
    arguments = ("--host", "Desk.example:9000", "--host", "[::1]:9001", "--host", "other.example")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.printed, said = cls.browse.address, cls.browse.process.stdout.readline()
        cls.browse.port = int(said.removeprefix("listens at port "))

    def test_have_ports_of_their_own(self):
        self.assertEqual(self.printed, f"http://desk.example:9000/#{self.browse.token}")
        port = self.browse.port
        for host in ("desk.example:9000", "DESK.example:9000", "[::1]:9001",
                     f"other.example:{port}", f"127.0.0.1:{port}"):
            status, _, text = self.send("POST", "/api/roots", b"{}", Host=host,
                                        Origin=f"http://{host}")
            self.assertEqual(status, 200, text)
        for host in (f"desk.example:{port}", "desk.example", "desk.example:9001", "[::1]",
                     "other.example:9000"):
            self.refused(421, "POST", "/api/roots", b"{}", Host=host)


class Strangers(Fixture):
    def setUp(self):
        self.body = b'{"path":""}'

    def test_have_no_token(self):
        for changed in ({"drop": ("X-Kairos-Token",)}, {"X_Kairos_Token": ""},
                        {"X_Kairos_Token": "0" * len(self.browse.token)},
                        {"X_Kairos_Token": self.browse.token[:-1]}):
            self.assertIn("token", self.refused(403, "POST", "/api/names", self.body, **changed))

    def test_come_from_other_hosts(self):
        for host in ("evil.example", f"evil.example:{self.browse.port}", "127.0.0.1:1", "",
                     f"127.0.0.1:{self.browse.port}.evil.example"):
            for method, path in (("GET", "/"), ("POST", "/api/names")):
                self.assertTrue(self.refused(421, method, path, self.body, Host=host))
        status, _, _ = self.send("POST", "/api/names", self.body,
                                 Host=f"LOCALHOST:{self.browse.port}")
        self.assertEqual(status, 200)

    def test_come_from_other_pages(self):
        for changed in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                        {"Origin": f"https://127.0.0.1:{self.browse.port}"},
                        {"Origin": f"http://localhost:{self.browse.port}"},
                        {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
            self.assertIn("another page", self.refused(403, "POST", "/api/names", self.body,
                                                       **changed))
        status, headers, _ = self.send("POST", "/api/names", self.body,
                                       Sec_Fetch_Site="same-origin",
                                       Origin=f"http://127.0.0.1:{self.browse.port}")
        self.assertEqual(status, 200)
        self.assertNotIn("Access-Control-Allow-Origin", headers)
        self.refused(405, "OPTIONS", "/api/names")

    def test_use_other_methods_and_forms(self):
        self.refused(405, "GET", "/api/names")
        self.refused(405, "PUT", "/api/names", self.body)
        self.refused(405, "POST", "/", self.body)
        self.refused(415, "POST", "/api/names", b"path=", Content_Type="text/plain")
        self.refused(415, "POST", "/api/names", b"x=1",
                     Content_Type="application/x-www-form-urlencoded")
        self.refused(415, "POST", "/api/names", b"--a\r\n",
                     Content_Type="multipart/form-data; boundary=a")

    def test_send_junk(self):
        for body in (b"", b"{", b"[]", b"null", b'{"path":1}', b'{"path":"a"} x', b"\xff\xfe",
                     b"[" * 100000, b'{"path":"' + b"a" * 100000 + b'"}'):
            self.assertTrue(self.refused(400, "POST", "/api/names", body))
        for body in (b'{"object":"file:///etc/passwd"}', b'{"object":"/etc/passwd"}',
                     b'{"object":"-"}', b"{}"):
            self.assertTrue(self.refused(400, "POST", "/api/open", body))
        for body in (b'{"object":"IOR:00"}', b'{"object":"IOR:00","operation":"a","arguments":1}'):
            self.assertTrue(self.refused(400, "POST", "/api/call", body))
        many = json.dumps({"object": "IOR:00", "attributes": ["a"] * 257}).encode()
        self.assertIn("at most 256", self.refused(400, "POST", "/api/read", many))
        self.assertTrue(self.refused(400, "POST", "/api/nothing", b"{}"))

    def test_send_too_much(self):
        large = b"[" + b" " * (5 << 20) + b"]"
        self.assertIn("at most", self.refused(413, "POST", "/api/names", large))
        self.refused(413, "POST", "/api/names", b"", Content_Length="99999999999999999999")
        self.refused(400, "POST", "/api/names", b"", Content_Length="-1")
        self.refused(431, "GET", "/", Cookie="a" * 20000)
        self.refused(431, "GET", "/", **{f"X_{number}": "a" for number in range(100)})

    def test_send_what_the_page_does_not(self):
        for changed in ({"Transfer_Encoding": "chunked"}, {"Content_Encoding": "gzip"},
                        {"Range": "bytes=" + "0-1," * 1500}, {"Upgrade": "websocket"},
                        {"Expect": "100-continue"}):
            self.refused(400, "GET", "/", **changed)
        host = f"Host: 127.0.0.1:{self.browse.port}\r\n".encode()
        for octets in (b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + host + host + b"\r\n",
                       b"GET / HTTP/1.1\r\n" + host + b"no colon\r\n\r\n",
                       b"GET / HTTP/1.1\r\n" + host + b" folded: x\r\n\r\n",
                       b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"\r\n\r\n",
                       b"GIOP\x01\x02\x00\x00\r\n\r\n", b"POST / HTTP/1.1\r\n" + host +
                       b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"):
            self.assertTrue(self.raw(octets).startswith("HTTP/1.1 400 "), octets)
        self.assertTrue(self.raw(b"A" * 20000).startswith("HTTP/1.1 431 "))

    def test_may_not_delay_the_end(self):
        with Browse(TOOL) as browse:
            with socket.create_connection(("127.0.0.1", browse.port)) as connection:
                connection.sendall(b"GET / HT")
                browse.process.terminate()
                self.assertEqual(browse.process.wait(), 0)


class Crowds(Fixture):
    arguments = ("--timeout", "600")

    def test_hold_connections(self):
        # An object that never answers has 16 calls, which are all that there may be at a time; 64
        # connections wait until these are over, and the others are refused.
        with socket.create_server(("127.0.0.1", 0)) as silent:
            silent.settimeout(60)
            url = f"corbaloc::127.0.0.1:{silent.getsockname()[1]}/Silent"
            body = json.dumps({"object": url})
            calls, called = [], []
            for _ in range(16):
                calls.append(http.client.HTTPConnection("127.0.0.1", self.browse.port, timeout=60))
                calls[-1].request("POST", "/api/open", body, {
                    "Content-Type": "application/json", "X-Kairos-Token": self.browse.token})
                called.append(silent.accept()[0])
            idle = [socket.create_connection(("127.0.0.1", self.browse.port), timeout=60)
                    for _ in range(80)]
            refused = set()
            while len(refused) < 16:
                readable = select.select([one for one in idle if one not in refused], [], [], 60)[0]
                self.assertTrue(readable)
                for connection in readable:
                    self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 503 "))
                    refused.add(connection)
        for connection in called:
            connection.close()
        for call in calls:
            answer = json.loads(call.getresponse().read())
            self.assertIn(answer["failure"]["name"], ("COMM_FAILURE", "TRANSIENT"))
            call.close()
        for connection in idle:
            connection.shutdown(socket.SHUT_WR)
        for connection in idle:  # until the server has closed it
            while connection.recv(4096):
                pass
            connection.close()
        self.assertEqual(self.call("roots"), {"names": True, "references": []})


class Reports(unittest.TestCase):
    def test_what_is_wrong_on_the_command_line(self):
        for arguments in (("--idl", "/nowhere.idl"), ("nonsense:",),
                          ("--listen", "nowhere.invalid"), ("--host", "desk:0"),
                          ("--host", "desk:65536"), ("--host", "desk:a"), ("--host", "::1"),
                          ("--host", ":9000")):
            with self.assertRaises(RuntimeError) as raised:
                Browse(TOOL, *arguments)
            self.assertIn("status 1", str(raised.exception))

    def test_that_nothing_can_be_accepted_any_more(self):
        # A call that is in progress does not delay that for as long as its object may take.
        with socket.create_server(("127.0.0.1", 0)) as silent:
            silent.settimeout(60)
            browse = Browse(TOOL, "--timeout", "600", errors=subprocess.PIPE)
            try:
                listening = self.listening_socket_of(browse)
                call = http.client.HTTPConnection("127.0.0.1", browse.port, timeout=60)
                call.request("POST", "/api/open", json.dumps({
                    "object": f"corbaloc::127.0.0.1:{silent.getsockname()[1]}/Silent"}), {
                        "Content-Type": "application/json", "X-Kairos-Token": browse.token})
                called = silent.accept()[0]
                listening.shutdown(socket.SHUT_RDWR)
                said = browse.process.stderr.read()
                self.assertEqual(browse.process.wait(), 1, said)
                self.assertIn("no connections can be accepted any more", said)
                for one in (called, call, listening):
                    one.close()
            finally:
                browse.process.kill()
                browse.end()
                browse.process.stderr.close()

    def listening_socket_of(self, browse):
        """A copy of the descriptor that the program listens with."""
        pidfd_getfd = 438
        libc = ctypes.CDLL(None, use_errno=True)
        process = os.pidfd_open(browse.process.pid)
        self.addCleanup(os.close, process)
        folder = pathlib.Path(f"/proc/{browse.process.pid}/fd")
        for number in [int(file.name) for file in folder.iterdir()
                       if os.readlink(file).startswith("socket:")]:
            copy = libc.syscall(pidfd_getfd, process, number, 0)
            if copy < 0:
                self.skipTest(f"pidfd_getfd: {os.strerror(ctypes.get_errno())}")
            found = socket.socket(fileno=copy)
            if (found.family == socket.AF_INET and found.getsockname()[1] == browse.port and
                    found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)):
                return found
            found.close()
        raise AssertionError("nobody listens at the port")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
