"""A server of objects like S3, and machines that share no files, on this one.

A job of a machine runs in an empty folder of its own with a nearly empty environment. Where mounts
can be made for it alone, the folder that the study is run from is hidden from it.
"""

import importlib.util
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from project import ENVIRONMENT

_PACKAGES = {
    "snakemake_storage_plugin_s3": "s3",
    "snakemake_executor_plugin_cluster_generic": "s3-server",
    "moto": "s3-server",
}

_SUBMIT = """#!/bin/sh
set -e
machine=$(mktemp -d {folder}/XXXXXX)
cp "$1" $machine/job.sh
mkdir $machine/files
cd $machine/files
setsid env -i {environment} {hidden} sh -c \
    'echo $$ > ../pid; sh ../job.sh > ../said 2>&1; echo $? > ../status' >/dev/null 2>&1 &
echo $machine
"""

_STATUS = """#!/bin/sh
if [ -f $1/status ]; then
    [ "$(cat $1/status)" = 0 ] && echo success || echo failed
elif [ -f $1/pid ] && ! kill -0 $(cat $1/pid) 2>/dev/null; then
    echo failed
else
    echo running
fi
"""


def why_not():
    """Say why none can be started here; nothing if one can."""
    lacks = {extra for name, extra in _PACKAGES.items() if importlib.util.find_spec(name) is None}
    return f"the extras {', '.join(sorted(lacks))} are not installed" if lacks else ""


class ObjectStorage:
    """A server with an address of its own, until it is left."""

    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        server = Path(sys.executable).with_name("moto_server")
        self._process = subprocess.Popen(
            [server, "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(600):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    return self
            time.sleep(0.1)
        raise TimeoutError("the server of objects does not answer")

    def __exit__(self, *exception):
        self._process.terminate()
        self._process.wait()

    @property
    def environment(self):
        """What Snakemake is told of it."""
        name = "SNAKEMAKE_STORAGE_S3"
        path = f"{Path(sys.executable).parent}{os.pathsep}{ENVIRONMENT['PATH']}"
        keys = {f"{name}_ACCESS_KEY": "key", f"{name}_SECRET_KEY": "secret"}
        return ENVIRONMENT | {f"{name}_ENDPOINT_URL": self.address, "PATH": path} | keys

    def objects(self, bucket):
        """Names of all that is stored."""
        import boto3

        client = boto3.client(
            "s3",
            endpoint_url=self.address,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        )
        return {item["Key"] for item in client.list_objects_v2(Bucket=bucket)["Contents"]}


class Machines:
    """Where jobs run, a folder each."""

    def __init__(self, folder, hidden):
        self.folder = folder
        folder.mkdir()
        can_hide = subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True)
        inner = 'mount -t tmpfs none "$1" && shift && exec "$@"'
        hide = ["unshare", "-m", "sh", "-c", inner, "sh", str(hidden)]
        kept = {name: ENVIRONMENT[name] for name in ("HARNESS_MIRROR",) if name in ENVIRONMENT}
        kept["PATH"] = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        self._submit = self._script(
            "submit",
            _SUBMIT.format(
                folder=shlex.quote(str(folder)),
                environment=shlex.join(f"{name}={value}" for name, value in kept.items()),
                hidden=shlex.join(hide) if can_hide.returncode == 0 else "",
            ),
        )
        self._status = self._script("status", _STATUS)

    @property
    def options(self):
        """Of Snakemake."""
        return [
            *("--executor", "cluster-generic", "--jobs", "2"),
            *("--cluster-generic-submit-cmd", self._submit),
            *("--cluster-generic-status-cmd", self._status),
            *("--seconds-between-status-checks", "1"),
        ]

    def said(self):
        """What all jobs said."""
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*/said")))

    def kill(self, has):
        """End all of a machine as soon as a file that matches a pattern has content."""
        for _ in range(3000):
            for path in self.folder.glob(f"*/files/{has}"):
                if path.stat().st_size:
                    machine = path.relative_to(self.folder).parts[0]
                    os.killpg(int((self.folder / machine / "pid").read_text()), signal.SIGKILL)
                    return
            time.sleep(0.1)
        raise TimeoutError(f"no job has {has}: {self.said()[-3000:]}")

    def _script(self, name, text):
        path = self.folder.parent / f"{name}.sh"
        path.write_text(text)
        path.chmod(0o755)
        return str(path)
