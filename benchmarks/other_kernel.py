"""Run a command under another Linux kernel, with cgroup v2 alone and with Landlock.

    apt-get install qemu-system-x86 busybox-static && apt-get download linux-image-6.1.0-50-amd64
    python benchmarks/other_kernel.py linux-image-*.deb -- python -m pytest -m '' tests/sandbox

Enforcement depends on the kernel, and a machine has one. This boots the kernel of a Debian package
in an emulator, which needs no right and takes a minute. The file system of this machine is its
root, read only; the command runs in a copy of this checkout on a disk of its own, /tmp, with this
Python. Its output is printed as it comes, its exit status returned. Emulated code is some 20 times
slower, so what counts seconds fails there, and a test of 10 s takes minutes.

By default the command runs as root in the root of all groups. `--scope` starts it in a group of
its own, as `systemd-run --scope` does. `--user NAME` runs it as that user, to whom the scope is
delegated as `systemd-run --user --scope -p Delegate=yes` does it. `--outer SIZE` puts the scope
into a group that is limited, as a scheduler limits a job. `--keep FOLDER` is a folder of this
machine that the command finds as /tmp/kept.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.units import parse_bytes

ROOT = Path(__file__).parents[1]
DRIVERS = ("virtio_pci", "9pnet_virtio", "9p", "virtio_blk", "crc32c_generic", "ext4")
LEFT_OUT = (".git", ".venv", ".mypy_cache", ".snakemake", "results", "prepared")
INIT = """\
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc; $b mount -t devtmpfs dev /dev
while read module; do $b insmod /modules/$module; done < /modules/order
plan9=trans=virtio,version=9p2000.L,msize=500000
$b mount -t 9p -o $plan9,cache=loose,ro root /new
$b mount -t ext4 /dev/vda /new/tmp; $b chmod 1777 /new/tmp
for folder in run var/tmp; do $b mount -t tmpfs tmpfs /new/$folder; done
$b mount -t proc proc /new/proc; $b mount -t sysfs sys /new/sys; $b mount -t devtmpfs dev /new/dev
$b mkdir -p /new/dev/shm /new/dev/pts /new/tmp/shared /new/tmp/kept
$b mount -t tmpfs shm /new/dev/shm; $b mount -t devpts pts /new/dev/pts
$b mount -t cgroup2 none /new/sys/fs/cgroup
for folder in shared kept; do $b mount -t 9p -o $plan9 $folder /new/tmp/$folder; done
$b ip link set lo up
$b chroot /new /bin/sh /tmp/shared/run.sh
$b sync; $b poweroff -f
"""
RUN = """\
export PATH={path} HOME=/tmp LANG=C.UTF-8 OPENBLAS_NUM_THREADS=1
export PYTHONPATH=/tmp/checkout PYTHONDONTWRITEBYTECODE=1
cp -a /tmp/shared/checkout /tmp/checkout; cd /tmp/checkout
{preparation}
{command} > /tmp/shared/output 2>&1
echo $? > /tmp/shared/status
"""
GROUPS = "/sys/fs/cgroup"
DISK = 16 << 30
"""Bytes of the disk that is /tmp there; what is not written takes no room here."""


def initial_files(package: Path, folder: Path) -> tuple[Path, Path]:
    """Unpack a kernel's package; return the kernel and an archive that mounts and starts."""
    subprocess.run(["dpkg-deb", "-x", package, folder / "kernel"], check=True)
    image = next((folder / "kernel/boot").glob("vmlinuz-*"))
    version = image.name.removeprefix("vmlinuz-")
    modules = folder / "kernel/lib/modules" / version
    subprocess.run(["busybox", "depmod", "-b", folder / "kernel", version], check=True)
    lines = (modules / "modules.dep").read_text().splitlines()
    needs = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    order: list[str] = []

    def add(name: str) -> None:
        for other in needs[name]:
            add(other)
        if name not in order:
            order.append(name)

    for driver in DRIVERS:
        add(next(name for name in needs if Path(name).name.split(".ko")[0] == driver))
    tree = folder / "initial"
    for name in ("bin", "modules", "new", "proc", "dev"):
        (tree / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "busybox", tree / "bin")
    for name in order:
        content = (modules / name).read_bytes()
        plain = lzma.decompress(content) if name.endswith(".xz") else content
        (tree / "modules" / Path(name).name).write_bytes(plain)
    (tree / "modules/order").write_text("".join(f"{Path(name).name}\n" for name in order))
    (tree / "init").write_text(INIT)
    (tree / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    packed = subprocess.run(
        ["busybox", "cpio", "-o", "-H", "newc"],
        cwd=tree,
        input=names.encode(),
        capture_output=True,
        check=True,
    )
    archive = folder / "initial.gz"
    archive.write_bytes(gzip.compress(packed.stdout, 1))
    return image, archive


def group(outer: int | None, user: str | None) -> list[str]:
    """Return shell commands that move the shell to a group of its own, which is the user's."""
    lines = [f"echo +memory > {GROUPS}/cgroup.subtree_control"]
    above = GROUPS
    if outer is not None:
        above = f"{GROUPS}/a.slice"
        lines += [f"mkdir {above}", f"echo {outer} > {above}/memory.max"]
        lines += [f"echo +memory > {above}/cgroup.subtree_control"]
    scope = f"{above}/a.scope"
    lines += [f"mkdir {scope}", f"echo $$ > {scope}/cgroup.procs"]
    if user is not None:
        lines += [f"chown {user} {scope}", f"cd {scope}"]
        lines += [f"chown {user} $(cat /sys/kernel/cgroup/delegate) 2> /dev/null", "cd -"]
    return lines


def own(user: str) -> list[str]:
    """Return shell commands by which a user may change the checkout and reach this Python."""
    lines = [f"chown -R {user} /tmp/checkout", "chmod 1777 /dev/shm"]
    python = Path(sys.base_prefix).resolve()
    closed = [path for path in reversed(python.parents) if not path.stat().st_mode & 1]
    if closed:
        lines += ["mkdir /tmp/python", f"mount --bind {python} /tmp/python"]
        lines += [f"mount -t tmpfs -o mode=755 tmpfs {closed[0]}", f"mkdir -p {python}"]
        lines += [f"mount --bind /tmp/python {python}"]
    return lines


def boot(image: Path, archive: Path, shared: Path, kept: Path, memory: str, most: float) -> None:
    """Run the emulator until the machine is off, and print what the command prints."""
    shares = []
    for name, path, rights in (
        ("root", Path("/"), ",readonly=on"),
        ("shared", shared, ""),
        ("kept", kept, ""),
    ):
        local = f"local,id={name},path={path},security_model=none,multidevs=remap{rights}"
        shares += ["-fsdev", local, "-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}"]
    disk = shared.parent / "disk"
    with disk.open("wb") as file:
        file.truncate(DISK)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", disk], check=True)
    shares += ["-drive", f"file={disk},format=raw,if=virtio,cache=unsafe"]
    machine = ["-accel", "tcg,thread=single", "-cpu", "max", "-m", memory, "-smp", "2"]
    machine += ["-icount", "shift=0,sleep=off"]
    options = "console=ttyS0 panic=-1 quiet lsm=landlock"
    started = ["-kernel", image, "-initrd", archive, "-append", options]
    command = ["qemu-system-x86_64", *machine, "-nographic", "-no-reboot", *started, *shares]
    output = shared / "output"
    output.touch()
    until = time.monotonic() + most
    with (
        output.open(errors="replace") as printed,
        (shared.parent / "console").open("wb") as console,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console) as emulator,
    ):
        is_on = True
        while is_on:
            is_on = emulator.poll() is None
            print(printed.read(), end="", flush=True)
            if time.monotonic() > until:
                emulator.kill()
                sys.exit(f"the command was not done within {most:.0f} s")
            time.sleep(0.5)
    if emulator.returncode:
        sys.exit(f"the emulator ended with {emulator.returncode}")


def main() -> None:
    """Boot, run, print, and end as the command did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", type=Path, help="linux-image-*.deb")
    parser.add_argument("--memory", default="6G", help="of the machine")
    parser.add_argument("--scope", action="store_true", help="run in a group of its own")
    parser.add_argument("--outer", type=parse_bytes, help="limit of a group around the scope")
    parser.add_argument("--user", help="run as this user, such as nobody; the scope is delegated")
    parser.add_argument("--keep", type=Path, help="a folder here that is /tmp/kept there")
    parser.add_argument("--seconds", type=float, default=86_400, help="after which all is ended")
    parser.add_argument("command", nargs="+", help="what runs there, after --")
    arguments = parser.parse_args()
    user = arguments.user
    preparation = own(user) if user else []
    if arguments.scope or arguments.outer is not None:
        preparation += group(arguments.outer, user)
    command = shlex.join(arguments.command)
    if user:
        command = f"setpriv --reuid {user} --regid $(id -g {user}) --init-groups {command}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        image, archive = initial_files(arguments.package, folder)
        shared = folder / "shared"
        shared.mkdir()
        kept = (arguments.keep or folder / "kept").resolve()
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copytree(ROOT, shared / "checkout", ignore=shutil.ignore_patterns(*LEFT_OUT))
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        text = RUN.format(
            path=shlex.quote(path), preparation="\n".join(preparation), command=command
        )
        (shared / "run.sh").write_text(text)
        boot(image, archive, shared, kept, arguments.memory, arguments.seconds)
        if not (shared / "status").exists():
            console = (folder / "console").read_text(errors="replace")
            sys.exit(f"{console[-3000:]}\nthe machine ended before the command did")
        status = int((shared / "status").read_text())
    sys.exit(status)


if __name__ == "__main__":
    main()
