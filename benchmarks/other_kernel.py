"""Run a command under another Linux kernel, with cgroup v2 alone and with Landlock.

    apt-get install qemu-system-x86 busybox-static && apt-get download linux-image-6.1.0-50-amd64
    python benchmarks/other_kernel.py linux-image-*.deb -- python -m pytest -m '' tests/sandbox

Enforcement depends on the kernel, and a machine has one. This boots the kernel of a Debian package
in an emulator, which needs no right and takes a minute. The file system of this machine is its
root, read only; a copy of this checkout in memory is where the command runs, with this Python. Its
output is printed, its exit status returned. Emulated code is some 20 times slower, so what counts
seconds fails there, and a test of 10 s takes minutes.

`--scope` starts the command in a group of its own that holds it, as `systemd-run --scope` does; by
default it is in the root of all groups.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DRIVERS = ("virtio_pci", "9pnet_virtio", "9p")
LEFT_OUT = (".git", ".venv", ".mypy_cache", ".snakemake", "results", "prepared")
INIT = """\
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc; $b mount -t devtmpfs dev /dev
while read module; do $b insmod /modules/$module; done < /modules/order
$b mount -t 9p -o trans=virtio,version=9p2000.L,cache=loose,msize=500000,ro root /new
for folder in tmp run var/tmp; do $b mount -t tmpfs tmpfs /new/$folder; done
$b mount -t proc proc /new/proc; $b mount -t sysfs sys /new/sys; $b mount -t devtmpfs dev /new/dev
$b mkdir -p /new/dev/shm /new/dev/pts /new/tmp/shared
$b mount -t tmpfs shm /new/dev/shm; $b mount -t devpts pts /new/dev/pts
$b mount -t cgroup2 none /new/sys/fs/cgroup
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=500000 shared /new/tmp/shared
$b ip link set lo up
$b chroot /new /bin/sh /tmp/shared/run.sh
$b sync; $b poweroff -f
"""
RUN = """\
export PATH={path} HOME=/tmp LANG=C.UTF-8 OPENBLAS_NUM_THREADS=1
export PYTHONPATH=/tmp/checkout PYTHONDONTWRITEBYTECODE=1
cp -r /tmp/shared/checkout /tmp/checkout; cd /tmp/checkout
{scope}
{command} > /tmp/shared/output 2>&1
echo $? > /tmp/shared/status
"""
SCOPE = "mkdir /sys/fs/cgroup/a.scope; echo $$ > /sys/fs/cgroup/a.scope/cgroup.procs"


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
        add(next(name for name in needs if Path(name).name == f"{driver}.ko"))
    tree = folder / "initial"
    for name in ("bin", "modules", "new", "proc", "dev"):
        (tree / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "busybox", tree / "bin")
    for name in order:
        shutil.copy(modules / name, tree / "modules")
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


def boot(image: Path, archive: Path, shared: Path, memory: str) -> None:
    """Run the emulator until the machine is off."""
    shares = []
    for name, path, options in (("root", "/", ",readonly=on"), ("shared", shared, "")):
        local = f"local,id={name},path={path},security_model=none,multidevs=remap{options}"
        shares += ["-fsdev", local, "-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}"]
    machine = ["-accel", "tcg,thread=multi", "-cpu", "max", "-m", memory, "-smp", "2"]
    console = "console=ttyS0 panic=-1 quiet lsm=landlock"
    started = ["-kernel", image, "-initrd", archive, "-append", console]
    command = ["qemu-system-x86_64", *machine, "-nographic", "-no-reboot", *started, *shares]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    """Boot, run, print, and end as the command did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", type=Path, help="linux-image-*.deb")
    parser.add_argument("--memory", default="6G", help="of the machine")
    parser.add_argument("--scope", action="store_true", help="run in a group of its own")
    parser.add_argument("command", nargs="+", help="what runs there, after --")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        image, archive = initial_files(arguments.package, folder)
        shared = folder / "shared"
        shared.mkdir()
        shutil.copytree(ROOT, shared / "checkout", ignore=shutil.ignore_patterns(*LEFT_OUT))
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        text = RUN.format(
            path=shlex.quote(path),
            scope=SCOPE if arguments.scope else "",
            command=shlex.join(arguments.command),
        )
        (shared / "run.sh").write_text(text)
        boot(image, archive, shared, arguments.memory)
        if not (shared / "status").exists():
            sys.exit("the machine ended before the command did")
        print((shared / "output").read_text(), end="")
        status = int((shared / "status").read_text())
    sys.exit(status)


if __name__ == "__main__":
    main()
