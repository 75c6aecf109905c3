"""Processes of a run: started here, logged to files, ended by pid, none left behind."""

import os
import signal
import socket
import subprocess
import time


class Failure(Exception):
    """A check that does not hold; the message says what was expected and what was found."""


def wait_for(what, check, seconds=60.0, every=0.1):
    """Call `check` until it returns something true and return that; fail after `seconds`.

    Connection errors and check failures while waiting count as "not yet".
    """
    deadline = time.monotonic() + seconds
    last = None
    while time.monotonic() < deadline:
        try:
            found = check()
            if found:
                return found
        except (OSError, Failure) as error:
            last = error
        time.sleep(every)
    raise Failure(f"waited {seconds:.0f} s for {what}" + (f": {last}" if last else ""))


def free_port():
    """A TCP port on loopback that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def memory(pid, field):
    """A field of /proc/PID/status in MiB, such as VmRSS or VmHWM."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        line = next(line for line in status if line.startswith(field + ":"))
    return int(line.split()[1]) / 1024


class Processes:
    """Every process of one run, ended in the reverse order of its start."""

    def __init__(self, logs):
        self.logs = logs
        self.running = []
        os.makedirs(logs, exist_ok=True)

    def start(self, name, command, env=None):
        """Start `command` with its output in the log directory; return the Popen."""
        log = open(os.path.join(self.logs, f"{name}.log"), "ab")
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            # A group of its own, so that Ctrl-C reaches the suite alone, which then ends all.
            start_new_session=True,
        )
        log.close()
        # For the shell that started the suite, should the suite itself be killed.
        with open(os.path.join(os.path.dirname(self.logs), "pids"), "a", encoding="utf-8") as pids:
            pids.write(f"{process.pid}\n")
        process.name = name
        process.log = os.path.join(self.logs, f"{name}.log")
        self.running.append(process)
        return process

    def stop(self, process, signum=signal.SIGTERM, seconds=15):
        """End one process and return its exit status; SIGKILL if it does not end in time."""
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(signum)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process in self.running:
            self.running.remove(process)
        return process.returncode

    def stop_all(self):
        """End whatever still runs."""
        for process in reversed(list(self.running)):
            self.stop(process, seconds=5)

    def log_text(self, process):
        """What a process has written so far."""
        with open(process.log, encoding="utf-8", errors="replace") as log:
            return log.read()
