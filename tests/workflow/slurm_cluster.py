"""A real Slurm on this one machine: a controller and nodes of one core, with limits on memory.

Everything it writes stands in one folder, and its configuration is seen as /etc/slurm by its own
processes alone: they have a mount namespace each. Needs root, and Debian's packages `slurm-wlm`
and `munge`; with accounting `slurmdbd` and `mariadb-server` too.
"""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import psutil

NEEDED = ("slurmctld", "slurmd", "munged", "unshare")
NAMESPACE = ("unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/slurm && exec "$@"')

SLURM = """\
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
SlurmdParameters=config_overrides
SlurmdTimeout=15
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MinJobAge=300
KillWait=5
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
JobAcctGatherType=jobacct_gather/cgroup
JobAcctGatherFrequency=task=1
"""
ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={ports[1]}
AccountingStoragePass={folder}/munge/socket
AccountingStorageEnforce=associations,limits
"""
CGROUP = """\
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainRAMSpace=yes
ConstrainSwapSpace=no
ConstrainCores=no
ConstrainDevices=no
AllowedRAMSpace=100
MinRAMSpace=30
"""
DATABASE = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={ports[1]}
SlurmUser=root
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={ports[2]}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
"""


def why_not(accounting=False):
    """Say why no cluster can be started here; empty if one can."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if accounting:
        missing += [name for name in ("slurmdbd", "mariadbd") if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if os.geteuid() != 0:
        return "slurmd needs root to limit a job's memory"
    return "" if Path("/etc/slurm").is_dir() else "/etc/slurm is no folder"


class Cluster:
    """Slurm's daemons, from `start` to `stop`.

    Parameters
    ----------
    folder : Path
        Of configuration, logs and state.
    nodes : int, default 2
        Of one core each.
    megabytes : int, default 3000
        Of each node.
    accounting : bool, default False
        Whether it keeps accounts, so that `sacct` answers.
    """

    def __init__(self, folder, nodes=2, megabytes=3000, accounting=False):
        self.folder = folder
        self.conf = folder / "etc"
        # groups of nodes are called after them
        self.name = f"harness{secrets.token_hex(3)}"
        self.nodes = [f"{self.name}n{number}" for number in range(nodes)]
        self.megabytes = megabytes
        self.accounting = accounting
        self._ports = _free_ports(3 + nodes)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def command(self, *command):
        """Return a command as it is started by a user who is logged in to the cluster."""
        return [*NAMESPACE, str(self.conf), *command]

    def ask(self, *command, check=True):
        """Return what a command of Slurm prints."""
        done = subprocess.run(
            self.command(*command), capture_output=True, text=True, check=False, timeout=60
        )
        if check and done.returncode:
            raise AssertionError(f"{command}: {done.stderr}{done.stdout}")
        return done.stdout

    def start(self):
        for name in ("etc", "munge", "controller", *(f"spool.{node}" for node in self.nodes)):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._start_munge()
        self._configure()
        if self.accounting:
            self._start_accounting()
        self._daemon("slurmctld", "-c")
        for node in self.nodes:
            self.node_up(node)
        self.wait_for_nodes(len(self.nodes))

    def wait_for_nodes(self, count, seconds=60):
        """Wait until as many nodes are idle."""
        wait_until(lambda: self._idle() == count, seconds, "nodes that are idle")

    def node_up(self, node):
        self._daemon("slurmd", "-N", node)

    def node_down(self, node):
        """Kill a node's daemon and all that it runs, as a loss of power does."""
        daemon = psutil.Process(int((self.folder / f"slurmd.{node}.pid").read_text()))
        daemon.kill()
        for process in self._processes(node):
            with contextlib.suppress(psutil.Error):
                process.kill()

    def kill_daemon(self, node):
        """Kill a node's daemon alone: what it started goes on."""
        psutil.Process(int((self.folder / f"slurmd.{node}.pid").read_text())).kill()

    def jobs(self, states="pending,running"):
        """Return ids of jobs that are in these states, and the node of each that runs."""
        told = self.ask("squeue", "-h", "-t", states, "-o", "%A|%N")
        return [tuple(line.split("|")) for line in told.splitlines()]

    def stop(self):
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            self.ask("scancel", "--user=root", check=False)
        for path in [*self.folder.glob("slurmd.*.pid"), self.folder / "slurmctld.pid"]:
            _end(path)
        for node in self.nodes:
            for process in self._processes(node):
                with contextlib.suppress(psutil.Error):
                    process.kill()
        for name in ("slurmdbd.pid", "mysql/pid", "munge/pid"):
            _end(self.folder / name)
        for node in self.nodes:
            for group in Path("/sys/fs/cgroup").glob(f"*/*{node}"):
                _remove_group(group)

    def _idle(self):
        told = self.ask("sinfo", "-h", "-N", "-p", "main", "-t", "idle", "-o", "%N", check=False)
        return len(told.splitlines())

    def _daemon(self, *command):
        done = subprocess.run(
            self.command(*command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"{command}: {done.stderr}")

    def _start_munge(self):
        folder = self.folder / "munge"
        (folder / "key").write_bytes(secrets.token_bytes(1024))
        (folder / "key").chmod(0o400)
        options = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log"}
        options["seed-file"] = "seed"
        given = [f"--{option}={folder / name}" for option, name in options.items()]
        folder.chmod(0o755)
        subprocess.run(["munged", "--force", *given], check=True)

    def _start_accounting(self):
        """Start a database and the daemon before it, and enter this cluster and its user."""
        folder = self.folder / "mysql"
        folder.mkdir()
        shutil.chown(folder, "mysql", "mysql")
        self.folder.chmod(0o755)
        made = ["mariadb-install-db", "--user=mysql", f"--datadir={folder}"]
        subprocess.run(made, check=True, capture_output=True)
        first = folder / "first.sql"
        # a statement a line
        first.write_text(
            "CREATE DATABASE slurm;\n"
            "CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm';\n"
            "GRANT ALL ON slurm.* TO slurm@'127.0.0.1';\n"
        )
        first.chmod(0o644)
        options = {"datadir": folder, "socket": folder / "socket", "init-file": first}
        options |= {"pid-file": folder / "pid", "port": self._ports[2]}
        options |= {"bind-address": "127.0.0.1", "log-error": folder / "log"}
        given = [f"--{name}={value}" for name, value in options.items()]
        # it ends with `stop`, by its pid
        daemon = ["mariadbd", "--no-defaults", "--user=mysql", "--skip-name-resolve", *given]
        self._database = subprocess.Popen(daemon)
        wait_until((folder / "socket").exists, 60, "the database")
        self._daemon("slurmdbd")
        asked = self.command("sacctmgr", "-i", "add", "cluster", self.name)
        wait_until(lambda: subprocess.run(asked, check=False).returncode == 0, 60, "slurmdbd")
        self.ask("sacctmgr", "-i", "add", "account", "team", f"cluster={self.name}")
        self.ask("sacctmgr", "-i", "add", "user", "root", "account=team")

    def _configure(self):
        host = socket.gethostname().split(".")[0]
        names = {"name": self.name, "host": host, "folder": self.folder, "ports": self._ports}
        lines = [SLURM.format(**names)]
        if self.accounting:
            lines.append(ACCOUNTING.format(**names))
        for node, port in zip(self.nodes, self._ports[3:], strict=True):
            lines.append(
                f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 "
                f"RealMemory={self.megabytes} State=UNKNOWN\n"
            )
        nodes = ",".join(self.nodes)
        lines.append(f"PartitionName=main Nodes={nodes} Default=YES MaxTime=1-0 State=UP\n")
        lines.append(f"PartitionName=short Nodes={nodes} MaxTime=30 State=UP\n")
        (self.conf / "slurm.conf").write_text("".join(lines))
        (self.conf / "cgroup.conf").write_text(CGROUP)
        (self.conf / "slurmdbd.conf").write_text(DATABASE.format(**names))
        (self.conf / "slurmdbd.conf").chmod(0o600)

    def _processes(self, node):
        """List what runs in a node's jobs: Slurm keeps it in groups called after the node."""
        found = set()
        for group in Path("/sys/fs/cgroup").glob(f"*/*{node}"):
            for tasks in group.rglob("cgroup.procs"):
                with contextlib.suppress(OSError):
                    found |= {int(pid) for pid in tasks.read_text().split()}
        processes = []
        for pid in found:
            with contextlib.suppress(psutil.Error):
                processes.append(psutil.Process(pid))
        return processes


def _free_ports(count):
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]


def wait_until(answer, seconds, what):
    """Wait until a question is answered by yes."""
    end = time.monotonic() + seconds
    while not answer():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.1)


def _end(path):
    """End the process that a file names, and wait for it."""
    with contextlib.suppress(OSError, ValueError, psutil.Error):
        process = psutil.Process(int(path.read_text()))
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except psutil.TimeoutExpired:
            process.kill()


def _remove_group(group):
    for folder in sorted(group.rglob("*"), reverse=True):
        if folder.is_dir():
            with contextlib.suppress(OSError):
                folder.rmdir()
    with contextlib.suppress(OSError):
        group.rmdir()
