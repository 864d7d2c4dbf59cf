"""Kernels that have their imports behind them: forked from a process that made them, instead of started anew."""

import os
import signal
import sys
import time
from importlib.metadata import EntryPoint
from typing import Any

from jupyter_client.provisioning import LocalProvisioner
from jupyter_client.provisioning.factory import KernelProvisionerFactory

_EXIT = 0.01


class WaitingKernel:
    """A child process that becomes a kernel when it is told its connection file; looks like a Popen from outside.

    It is forked before this process makes event loops or sockets, which a fork would share.
    """

    stdin = stdout = stderr = None
    current: "WaitingKernel | None" = None

    def __init__(self) -> None:
        told, tell = os.pipe()
        parent = os.getpid()
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            os.close(tell)
            _become_kernel(told, parent)
        os.close(told)
        self._tell = tell

    def start(self, connection_file: str) -> None:
        """Become a kernel."""
        os.write(self._tell, os.fsencode(connection_file))
        os.close(self._tell)

    def poll(self) -> int | None:
        """The exit status, None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self) -> int:
        """The exit status, once it has ended."""
        while (status := self.poll()) is None:
            time.sleep(_EXIT)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, while it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


class ForkedProvisioner(LocalProvisioner):
    """Gives a kernel manager the kernel that waits in this process, in the place of a new one."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Tell the waiting kernel the connection file that the command names."""
        kernel = WaitingKernel.current
        assert kernel is not None, "a worker forks its kernel first"
        WaitingKernel.current = None
        kernel.start(cmd[cmd.index("-f") + 1])
        self.process = kernel  # type: ignore[assignment]  # it looks like one
        self.pid, self.pgid = kernel.pid, None
        return self.connection_info


def use_forked_kernels() -> None:
    """From now on this process' kernel managers start the kernel that `WaitingKernel.current` is."""
    factory = KernelProvisionerFactory.instance()
    name = factory.default_provisioner_name
    factory.provisioners[name] = EntryPoint(name, f"{__name__}:ForkedProvisioner", "jupyter_client.kernel_provisioners")


def _become_kernel(told: int, parent: int) -> None:
    """Never returns."""
    connection_file = os.fsdecode(os.read(told, 4096))
    os.close(told)
    if not connection_file:  # the other end has gone
        os._exit(0)
    os.environ["JPY_PARENT_PID"] = str(parent)
    from ipykernel.kernelapp import IPKernelApp

    status = 0
    try:
        sys.argv = ["ipykernel", "-f", connection_file]
        IPKernelApp.launch_instance(["-f", connection_file], parent_handle=parent)
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
