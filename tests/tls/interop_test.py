#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# TLS between the ORBs: the tool `kairos` and omniORB's programs (with its TLS transport loaded into
# them) as servers and clients of each other, and OpenSSL's own client.
#     tests/tls/interop_test.py build/dev/bin/kairos
import argparse
import contextlib
import ctypes.util
import os
import pathlib
import pty
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

SECONDS = 60
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)


def run(*command, environment=None, text=""):
    """What a program that ends prints, both ways."""
    ended = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, timeout=SECONDS, check=False, env=environment)
    return ended.returncode, ended.stdout


@contextlib.contextmanager
def server(*command, ready, environment=None):
    """A server, and the match of the line by which it says that it is there."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment) as process:
        lines = []
        found = None
        for line in process.stdout:
            lines.append(line)
            found = re.search(ready, line)
            if found:
                break
        try:
            check(found, f"{command[0]} does not start: {''.join(lines)}")
            yield found
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=SECONDS)


@contextlib.contextmanager
def program(*command, **how):
    """A program that runs, until it is over or SECONDS are."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **how) as process:
        watchdog = threading.Timer(SECONDS, process.kill)
        watchdog.start()
        try:
            yield process
        finally:
            watchdog.cancel()
            process.kill()


def told(process, text):
    """Waits until the program has said so."""
    for line in process.stdout:
        if text in line:
            return
    check(False, f"nobody says '{text}'")


def ended(process, expected, text):
    process.communicate(timeout=SECONDS)
    check(process.returncode == expected, f"{text}: status {process.returncode}")


def hangup_waits(process):
    """Whether SIGHUP has not been taken yet by a program that goes on."""
    if process.poll() is not None:
        return False
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return False
    shared = re.search(r"ShdPnd:\s*([0-9a-f]+)", status)
    return bool(int(shared.group(1), 16) & 1 << (signal.SIGHUP - 1))


def ignore_hangup():
    """As nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextlib.contextmanager
def held_port():
    """A port that nobody else has meanwhile; whoever lets others have it too may listen at it. It
    is none of those that the system chooses from."""
    with socket.socket() as held:
        for port in random.sample(range(10000, 32768), 1000):
            try:
                held.bind(("127.0.0.1", port))
            except OSError:
                continue
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            yield port
            return
    raise RuntimeError("cannot hold a port: none is free")


class Peers:
    def __init__(self, kairos, work):
        self.kairos = kairos
        self.work = work
        self.keys = work / "keys"
        status, said = run(kairos, "certs", self.keys)
        check(status == 0, f"kairos certs: {said}")
        self.shows = ["-ORBTlsCertificate", self.keys / "server.pem",
                      "-ORBTlsKey", self.keys / "server-key.pem"]
        self.trusts = ["-ORBTlsTrust", self.keys / "ca.pem"]

    def naming(self, *options):
        """The name server, at an address of TLS alone."""
        return server(self.kairos, "naming", "--store", self.work / "names", "--listen",
                      "ssliop://127.0.0.1:0", *self.shows, *options,
                      ready=r"(IOR:[0-9a-fA-F]+)")

    def certificates(self):
        files = {path.name: path.stat().st_mode & 0o777 for path in self.keys.iterdir()}
        for name in ("ca", "server", "client"):
            check(files.get(f"{name}.pem") == 0o644, f"kairos certs: {files}")
            check(files.get(f"{name}-key.pem") == 0o600, f"kairos certs: {files}")
        status, said = run(self.kairos, "certs", self.keys)
        check(status == 1 and "File exists" in said, f"kairos certs, again: {said}")
        self.taking_back(self.work / "back")

    def taking_back(self, folder):
        """Nobody who was taken back is forgotten, nor taken back by another authority."""
        elsewhere = folder.with_name("elsewhere")
        for made in (folder, elsewhere):
            status, said = run(self.kairos, "certs", made)
            check(status == 0, f"kairos certs: {said}")
        revoke = (self.kairos, "certs", folder, "--revoke", folder / "client.pem")
        status, said = run(*revoke)
        check(status == 0, f"kairos certs --revoke: {said}")
        own, others = ((made / "crl.pem").read_text() for made in (folder, elsewhere))
        for text, why in ((own + others, "more in it than one list"),
                          (others, "ca.pem has not signed it")):
            (folder / "crl.pem").write_text(text)
            status, said = run(*revoke)
            check(status == 1 and why in said, f"kairos certs --revoke: {said}")
            check((folder / "crl.pem").read_text() == text, "kairos certs --revoke: crl.pem")
        for name in folder.iterdir():
            if name.name != "crl.pem":
                name.unlink()
        status, said = run(self.kairos, "certs", folder)
        check(status == 1 and "crl.pem: File exists" in said, f"kairos certs, a list: {said}")
        check([each.name for each in folder.iterdir()] == ["crl.pem"], "kairos certs, a list")

    def among_kairos(self):
        with self.naming() as found:
            reference = found.group(1)
            status, said = run(self.kairos, "ior", reference)
            port = re.search(r"TLS at port (\d+)", said)
            check(status == 0 and port and "(by TLS only)" in said, f"kairos ior: {said}")
            self.openssl(port.group(1))
            url = f"corbaloc:ssliop:127.0.0.1:{port.group(1)}/NameService"
            status, said = run(self.kairos, "ping", url, "-ORBTlsClient", "required", *self.trusts)
            check(status == 0 and "alive" in said, f"kairos ping: {said}")
            for name in (reference, url):
                status, said = run(self.kairos, "names", "--service", name, "mkdir", "a" + name[:3],
                                   *self.trusts)
                check(status == 0, f"kairos names: {said}")
            status, said = run(self.kairos, "names", "--service", url, "ls")
            check(status == 1 and "-ORBTlsTrust" in said, f"kairos names, without trust: {said}")

    def takes_back(self):
        """A client whose certificate is taken back while the server runs."""
        known = [*self.trusts, "-ORBTlsCertificate", self.keys / "client.pem",
                 "-ORBTlsKey", self.keys / "client-key.pem"]
        with self.naming("-ORBTlsVerifyClient", "required", *self.trusts, "-ORBTlsRevocations",
                         self.keys / "crl.pem") as found:
            status, said = run(self.kairos, "ping", found.group(1), *known)
            check(status == 0, f"kairos ping, before: {said}")
            status, said = run(self.kairos, "certs", self.keys, "--revoke",
                               self.keys / "client.pem")
            check(status == 0 and "crl.pem" in said, f"kairos certs --revoke: {said}")
            for _ in range(1000):  # until the server has looked at the file
                status, said = run(self.kairos, "ping", found.group(1), *known)
                if status != 0:
                    break
            check(status != 0, f"kairos ping, after: {said}")
        status, said = run(self.kairos, "certs", self.keys, "--revoke", __file__)
        check(status == 1 and "no certificate is read" in said, f"certs --revoke: {said}")
        tool = shutil.which("openssl")
        if tool is not None:
            status, said = run(tool, "verify", "-CAfile", self.keys / "ca.pem", "-CRLfile",
                               self.keys / "crl.pem", "-crl_check", self.keys / "client.pem")
            check(status != 0 and "revoked" in said, f"openssl verify: {said}")

    def staples(self):
        """What the authority says by OpenSSL's own tool, which the server shows to who asks."""
        tool = shutil.which("openssl")
        if tool is None:
            return
        answer = self.work / "server.der"
        signer = [self.keys / "ca.pem", "-rsigner", self.keys / "ca.pem", "-rkey",
                  self.keys / "ca-key.pem"]

        def openssl(*arguments):
            status, said = run(tool, *arguments)
            check(status == 0, f"openssl {arguments[0]}: {said}")
            return said

        def say(word):
            serial = openssl("x509", "-noout", "-serial", "-in", self.keys / "server.pem")
            (self.work / "index").write_text(
                f"{word}\t{serial.strip().partition('=')[2]}\tunknown\t/CN=server\n")
            openssl("ocsp", "-index", self.work / "index", "-CA", *signer, "-reqin",
                    self.work / "question", "-ndays", "1", "-respout", answer.with_suffix(".new"))
            answer.with_suffix(".new").replace(answer)

        openssl("ocsp", "-issuer", self.keys / "ca.pem", "-cert", self.keys / "server.pem",
                "-no_nonce", "-reqout", self.work / "question")
        say("V\t491231235959Z\t")
        asks = [*self.trusts, "-ORBTlsVerifyStaple", "required"]
        with self.naming() as found:
            status, said = run(self.kairos, "ping", found.group(1), *asks)
            check(status != 0 and "'CN=server' is not accepted: what its authority says of it is "
                  "not shown" in said, f"kairos ping, nothing shown: {said}")
        with self.naming("-ORBTlsStaple", answer) as found:
            status, said = run(self.kairos, "ping", found.group(1), *asks)
            check(status == 0 and "alive" in said, f"kairos ping, an answer: {said}")
            port = re.search(r"TLS at port (\d+)", run(self.kairos, "ior", found.group(1))[1])
            for version in ("-tls1_3", "-tls1_2"):
                said = openssl("s_client", "-connect", f"127.0.0.1:{port.group(1)}", version,
                               "-status", "-CAfile", self.keys / "ca.pem")
                check("OCSP Response Status: successful" in said and "Cert Status: good" in said,
                      f"s_client -status {version}: {said}")
            say("R\t491231235959Z\t200101000000Z")
            for _ in range(1000):  # until the server has looked at the file
                status, said = run(self.kairos, "ping", found.group(1), *asks)
                if status != 0:
                    break
            check("'CN=server' is not accepted: its authority says that it was revoked" in said,
                  f"kairos ping, revoked: {said}")

    def rereads(self):
        """Daemons read their files when they are told to, and end then if they have none."""
        own = self.work / "own.pem"
        own.write_text((self.keys / "server.pem").read_text())
        options = ["-ORBTlsCertificate", own, "-ORBTlsKey", self.keys / "server-key.pem"]
        daemon = [self.kairos, "naming", "--store", self.work / "reread"]
        by_tls = [*daemon, "--listen", "ssliop://127.0.0.1:0", *options]
        for how in ({}, {"preexec_fn": ignore_hangup}):
            with program(*by_tls, **how) as process:
                told(process, "IOR:")
                process.send_signal(signal.SIGHUP)
                told(process, "were read again")
                own.write_text((self.keys / "client.pem").read_text())
                process.send_signal(signal.SIGHUP)
                told(process, "it is not the key of")
                own.write_text((self.keys / "server.pem").read_text())
                process.send_signal(signal.SIGHUP)
                told(process, "are in force for new connections of servers")
                process.send_signal(signal.SIGTERM)
                ended(process, 0, "after SIGHUP")
        with program(*daemon) as process:
            told(process, "IOR:")
            process.send_signal(signal.SIGHUP)
            ended(process, 0, "SIGHUP, without TLS")
        # By its options, not by what was read.
        with program(*daemon, "-ORBTlsClient", "required") as process:
            told(process, "IOR:")
            self.goes_on(process)

    def hangs_up(self):
        """Who was begun to outlive its terminal does; all others end with it."""
        daemon = [self.kairos, "naming", "--store", self.work / "hangs"]
        with program(*daemon, preexec_fn=ignore_hangup) as process:
            told(process, "IOR:")
            self.goes_on(process)
        by_tls = [*daemon, "--listen", "ssliop://127.0.0.1:0", *self.shows]
        child, terminal = pty.fork()
        if child == 0:
            os.execv(by_tls[0], [str(each) for each in by_tls])
        watchdog = threading.Timer(SECONDS, os.kill, (child, signal.SIGKILL))
        watchdog.start()
        said = b""
        while b"IOR:" not in said:
            said += os.read(terminal, 4096)
        os.kill(child, signal.SIGHUP)  # the terminal is still there
        while b"were read again" not in said:
            said += os.read(terminal, 4096)
        os.close(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        watchdog.cancel()
        check(status == 0, f"a service at a terminal that has gone: status {status}")

    def goes_on(self, process):
        """Who takes a second SIGHUP was not ended by the first."""
        for _ in range(2):
            process.send_signal(signal.SIGHUP)
            while hangup_waits(process):
                pass
        check(process.poll() is None, "SIGHUP ends what it should not")
        process.send_signal(signal.SIGTERM)
        ended(process, 0, "SIGTERM after SIGHUP")

    def openssl(self, port):
        tool = shutil.which("openssl")
        if tool is None:
            return
        for version, protocol in (("-tls1_3", "giop"), ("-tls1_2", "giop")):
            status, said = run(tool, "s_client", "-connect", f"127.0.0.1:{port}", "-alpn", protocol,
                               version, "-CAfile", self.keys / "ca.pem", "-verify_return_error",
                               "-verify_ip", "127.0.0.1")
            check(status == 0 and "ALPN protocol: giop" in said and
                  "Verify return code: 0 (ok)" in said, f"s_client {version}: {said}")
        status, said = run(tool, "s_client", "-connect", f"127.0.0.1:{port}", "-alpn", "h2")
        check(status != 0 and "no application protocol" in said, f"s_client, h2: {said}")
        status, said = run(tool, "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_1", "-cipher",
                           "ALL:@SECLEVEL=0")
        check(status != 0, f"s_client, TLS 1.1: {said}")

    def with_omniorb(self, library):
        both = self.work / "both.pem"
        both.write_text((self.keys / "server.pem").read_text() +
                        (self.keys / "server-key.pem").read_text())
        both.chmod(0o600)
        environment = dict(os.environ, LD_PRELOAD=library)
        omniorb = ["-ORBsslCAFile", self.keys / "ca.pem", "-ORBsslKeyFile", both,
                   "-ORBsslKeyPassword", "none"]
        self.omniorb_calls(omniorb, environment)
        self.omniorb_is_called(omniorb, environment)

    def omniorb_calls(self, omniorb, environment):
        nameclt = shutil.which("nameclt")
        for version in ([], ["-ORBTlsVerifyClient", "required", *self.trusts]):
            with self.naming(*version) as found:
                status, said = run(nameclt, *omniorb, "-ORBInitRef",
                                   f"NameService={found.group(1)}", "bind_new_context",
                                   f"omniORB{len(version)}", environment=environment)
                check(status == 0, f"nameclt: {said}")
                status, said = run(nameclt, *omniorb, "-ORBInitRef",
                                   f"NameService={found.group(1)}", "list",
                                   environment=environment)
                check(status == 0 and "omniORB" in said, f"nameclt: {said}")

    def omniorb_is_called(self, omniorb, environment):
        folder = self.work / "omninames"
        folder.mkdir()
        with held_port() as plain, held_port() as port, \
             server(shutil.which("omniNames"), "-start", str(plain), "-logdir", folder,
                    "-ORBendPoint", f"giop:ssl:127.0.0.1:{port}",
                    *omniorb, ready="Checkpoint|Root context is", environment=environment):
            url = f"corbaloc:ssliop:1.2@127.0.0.1:{port}/NameService"
            # omniORB's servers want a certificate unless they are told otherwise.
            known = [*self.trusts, "-ORBTlsCertificate", self.keys / "client.pem",
                     "-ORBTlsKey", self.keys / "client-key.pem"]
            for more in ([], ["-ORBConnection", "leader-followers"]):
                status, said = run(self.kairos, "names", "--service", url, "mkdir",
                                   f"kairos{len(more)}", *known, *more)
                check(status == 0, f"kairos names, of omniNames: {said}")
            status, said = run(self.kairos, "names", "--service", url, "ls", *known)
            check(status == 0 and "kairos0" in said, f"kairos names, of omniNames: {said}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kairos", help="the tool")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(arguments.kairos, pathlib.Path(folder))
        peers.certificates()
        peers.among_kairos()
        peers.takes_back()
        peers.staples()
        peers.rereads()
        peers.hangs_up()
        library = ctypes.util.find_library("omnisslTP4")
        if library and shutil.which("omniNames") and shutil.which("nameclt"):
            peers.with_omniorb(library)
        else:
            print("omniORB's TLS is not there: skipped")
    print("\n".join(failures) if failures else "TLS: everybody calls everybody")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
