# SPDX-License-Identifier: Apache-2.0
#
# The programs that the tests of `kairos browse` talk to: an agent with objects and a naming service
# (examples/mib), and the tool itself.
import signal
import subprocess


class Program:
    """A program that prints a line when it is ready. Use it by `with`."""

    def __init__(self, *command, errors=None):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=errors, text=True)
        self.line = self.process.stdout.readline().strip()
        if not self.line:
            self.process.stdout.close()
            raise RuntimeError(f"{command[0]} has ended: status {self.process.wait()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.must_end_well()

    def end(self):
        """Its exit status; of one that had been killed before none."""
        self.process.terminate()
        self.process.stdout.close()
        status = self.process.wait()
        return None if status == -signal.SIGKILL else status

    def must_end_well(self):
        status = self.end()
        if status not in (0, None):
            raise RuntimeError(f"{self.process.args[0]} ended with status {status}")


def agent(program):
    return Program(program, "-ORBListenEndpoints", "iiop://127.0.0.1:0")


class Browse(Program):
    """`kairos browse`, and the parts of the address that it prints."""

    def __init__(self, tool, *arguments, errors=None):
        super().__init__(tool, "browse", *arguments, errors=errors)
        self.address = self.line
        page, _, self.token = self.line.partition("#")
        self.port = int(page.rstrip("/").rpartition(":")[2])
