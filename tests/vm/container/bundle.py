#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes an OCI bundle of an image and a deployment's own settings: bundle.py daemonset|unit IMAGE SETTINGS BUNDLE

daemonset: SETTINGS is the DaemonSet's YAML, translated as kubelet and containerd do. unit: SETTINGS is the systemd
unit; capabilities, system calls and the paths that it may write or see are kept, the rest of its hardening is not.
A key that is not known here ends the translation: no setting is left out of the test silently.
Beside config.json, the file `settings` has the guest's settings (in shell)."""
import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile

try:
    import yaml
except ImportError:
    sys.exit("bundle.py: error: python3-yaml is missing: run 'make deps'")

CAPABILITIES = """CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE
    NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE
    SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL
    SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF
    CHECKPOINT_RESTORE""".split()
# What containerd leaves and hides when a container is not privileged.
DEFAULT_CAPABILITIES = """CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP
    NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE""".split()
MASKED = ["/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
          "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
KMSG = {"type": "c", "major": 1, "minor": 11}
PLACEHOLDER = "@PREFIX@/sbin/xidscope"


def die(message):
    sys.exit(f"bundle.py: error: {message}")


def only(what, mapping, *known):
    """The values of known keys; any other key is an error."""
    unknown = sorted(set(mapping) - set(known))
    if unknown:
        die(f"{what}: no translation for {', '.join(unknown)}: teach bundle.py")
    return [mapping.get(key) for key in known]


def unpack(image, rootfs):
    """Unpacks an OCI archive's layers and returns the image's configuration."""
    with tarfile.open(image) as archive:
        def blob(descriptor):
            return archive.extractfile("blobs/" + descriptor["digest"].replace(":", "/")).read()

        index = json.load(archive.extractfile("index.json"))
        manifest = json.loads(blob(index["manifests"][0]))
        for layer in manifest["layers"]:
            data = blob(layer)
            if layer["mediaType"].endswith("+gzip"):
                data = gzip.decompress(data)
            with tarfile.open(fileobj=io.BytesIO(data)) as files:
                if any(os.path.basename(name).startswith(".wh.") for name in files.getnames()):
                    die("a layer removes files of another: teach bundle.py")
                files.extractall(rootfs)
        config = json.loads(blob(manifest["config"]))["config"]
        return index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], config


def bind(source, target, read_only=False):
    return {"destination": target, "source": source, "type": "bind",
            "options": ["rbind", "rprivate", "ro" if read_only else "rw"]}


def specification(args, environment, capabilities, *, read_only_sys, new_namespaces):
    """What both deployments have in common."""
    sys_options = ["nosuid", "noexec", "nodev", "ro" if read_only_sys else "rw"]
    names = ["CAP_" + name for name in capabilities]
    return {
        "ociVersion": "1.0.2",
        "process": {"user": {"uid": 0, "gid": 0}, "args": args, "env": environment, "cwd": "/",
                    "capabilities": {kind: names for kind in ("bounding", "effective", "permitted")}},
        "root": {"path": "rootfs"},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
             "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
            {"destination": "/dev/pts", "type": "devpts", "source": "devpts",
             "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]},
            {"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue"},
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": sys_options},
            {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": sys_options},
        ],
        "linux": {"namespaces": [{"type": kind} for kind in ["mount", "ipc", "uts"] + new_namespaces],
                  "cgroupsPath": "/pod/xidscope", "resources": {}},
    }


def memory_bytes(quantity):
    number, unit = re.fullmatch(r"(\d+)(Ki|Mi|Gi|)", str(quantity)).groups()
    return int(number) << {"": 0, "Ki": 10, "Mi": 20, "Gi": 30}[unit]


def from_daemonset(path, tag, image):
    with open(path, encoding="utf-8") as file:
        objects = [each for each in yaml.safe_load_all(file) if each]
    [template] = [each["spec"]["template"]["spec"] for each in objects if each["kind"] == "DaemonSet"]
    # Those in the second line concern the scheduler, the API server and stopping, not the container's world.
    containers, volumes, host_network, host_pid, grace, *_ = only(
        "pod", template, "containers", "volumes", "hostNetwork", "hostPID", "terminationGracePeriodSeconds",
        "tolerations", "nodeSelector", "priorityClassName", "automountServiceAccountToken", "enableServiceLinks")
    [container] = containers
    name, command, args, env, security, resources, mounts, *_ = only(
        "container", container, "image", "command", "args", "env", "securityContext", "resources", "volumeMounts",
        "name", "imagePullPolicy")
    if name != tag:
        die(f"the DaemonSet runs {name}, the image is {tag}")
    privileged, read_only, user, capabilities = only(
        "securityContext", security or {}, "privileged", "readOnlyRootFilesystem", "runAsUser", "capabilities")
    if user:
        die("runAsUser other than 0: teach bundle.py")
    added, dropped = only("capabilities", capabilities or {}, "add", "drop")
    granted = set() if "ALL" in (dropped or []) else set(DEFAULT_CAPABILITIES) - set(dropped or [])
    granted |= set(added or [])
    environment = {**dict(each.split("=", 1) for each in image.get("Env", [])),
                   **{each["name"]: each["value"] for each in env or []}}

    spec = specification(
        (command or image.get("Entrypoint", [])) + (args or image.get("Cmd", [])),
        [f"{key}={value}" for key, value in environment.items()],
        CAPABILITIES if privileged else [each for each in CAPABILITIES if each in granted],
        read_only_sys=not privileged,
        new_namespaces=([] if host_network else ["network"]) + ([] if host_pid else ["pid"])
        + ([] if privileged else ["cgroup"]))
    spec["root"]["readonly"] = bool(read_only)
    linux = spec["linux"]
    if privileged:
        # All of the node's devices; kmsg stands for them.
        linux["devices"] = [{"path": "/dev/kmsg", **KMSG}]
        linux["resources"]["devices"] = [{"allow": True, "access": "rwm"}]
    else:
        linux.update(maskedPaths=MASKED, readonlyPaths=READ_ONLY)
        linux["resources"]["devices"] = [{"allow": False, "access": "rwm"}]

    _, limits = only("resources", resources or {}, "requests", "limits")
    memory, cpu = only("limits", limits or {}, "memory", "cpu")
    if memory:
        linux["resources"]["memory"] = {"limit": memory_bytes(memory)}
    if cpu:
        die("a CPU limit: teach bundle.py")

    created, paths = [], {}
    for volume in volumes or []:
        volume_name, host_path = only("volume", volume, "name", "hostPath")
        paths[volume_name], kind = only("hostPath", host_path, "path", "type")
        if kind == "DirectoryOrCreate":
            created.append(paths[volume_name])
        elif kind != "Directory":
            die(f"hostPath of type {kind}: teach bundle.py")
    for mount in mounts or []:
        mount_name, target, mount_read_only = only("volumeMount", mount, "name", "mountPath", "readOnly")
        spec["mounts"].append(bind(paths[mount_name], target, mount_read_only))
    return spec, {"create": created, "grace": grace or 30}


def system_calls(names):
    """Resolves systemd's groups of system calls."""
    calls = set()
    for name in names:
        if name.startswith("@"):
            lines = subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter", name], check=True,
                                   capture_output=True, text=True).stdout.splitlines()
            members = [line.strip() for line in lines[1:]]
            calls |= system_calls([each for each in members if each and not each.startswith("#")])
        else:
            calls.add(name)
    return calls


def from_unit(path, image):
    known = """Type ExecStartPre ExecStart ExecReload Restart RestartSec RestartPreventExitStatus LimitMEMLOCK UMask
        CapabilityBoundingSet NoNewPrivileges SystemCallFilter SystemCallErrorNumber SystemCallArchitectures
        MemoryDenyWriteExecute LockPersonality RestrictRealtime RestrictSUIDSGID RestrictNamespaces
        RestrictAddressFamilies ProtectSystem ReadWritePaths ProtectHome PrivateTmp DevicePolicy DeviceAllow
        StateDirectory ReadOnlyPaths ProtectKernelModules ProtectControlGroups ProtectClock ProtectHostname""".split()
    service, section = {}, None
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith("["):
                section = line
            elif section == "[Service]" and line and not line.startswith(("#", ";")):
                key, value = line.split("=", 1)
                service[key] = value
    only("unit", service, *known)
    start = service["ExecStart"].split()
    if start[0] != PLACEHOLDER:
        die(f"ExecStart= is not {PLACEHOLDER}")
    spec = specification(image["Entrypoint"] + start[1:], ["PATH=/usr/sbin:/usr/bin"],
                         [each.removeprefix("CAP_") for each in service["CapabilityBoundingSet"].split()],
                         read_only_sys="/sys" in service.get("ReadOnlyPaths", "").split(), new_namespaces=[])
    spec["root"]["readonly"] = True
    spec["process"]["noNewPrivileges"] = service.get("NoNewPrivileges") == "yes"
    writable = [each.removeprefix("-") for each in service.get("ReadWritePaths", "").split()]
    writable += ["/var/lib/" + each for each in service.get("StateDirectory", "").split()]
    spec["mounts"] += [bind(each, each) for each in writable]
    linux = spec["linux"]
    linux["resources"]["devices"] = [{"allow": False, "access": "rwm"}]
    if service.get("DeviceAllow") == "/dev/kmsg r":
        linux["devices"] = [{"path": "/dev/kmsg", **KMSG}]
        linux["resources"]["devices"].append({"allow": True, "access": "r", **KMSG})
    linux["readonlyPaths"] = [each for each in service.get("ReadOnlyPaths", "").split() if each.startswith("/proc/")]
    linux["seccomp"] = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [
        {"names": sorted(system_calls(service["SystemCallFilter"].split())), "action": "SCMP_ACT_ALLOW"}]}
    return spec, {"create": writable, "grace": 90}


def host_path(spec, path):
    """A path of the container as the node has it."""
    for mount in spec["mounts"]:
        if mount["type"] == "bind" and path.startswith(mount["destination"] + "/"):
            return mount["source"] + path[len(mount["destination"]):]
    die(f"no volume holds {path}: it would not exist on the node")


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("daemonset", "unit"):
        die(__doc__.splitlines()[0])
    kind, image, settings, bundle = sys.argv[1:]
    os.makedirs(bundle + "/rootfs")
    tag, config = unpack(image, bundle + "/rootfs")
    spec, of_guest = from_daemonset(settings, tag, config) if kind == "daemonset" else from_unit(settings, config)
    args = spec["process"]["args"]
    of_guest["output"] = host_path(spec, args[args.index("--output") + 1])
    with open(bundle + "/config.json", "w", encoding="utf-8") as file:
        json.dump(spec, file, indent=1)
    with open(bundle + "/settings", "w", encoding="utf-8") as file:
        for key, value in of_guest.items():
            words = value if isinstance(value, list) else [value]
            joined = " ".join(shlex.quote(str(word)) for word in words)
            file.write(f"{key}=({joined})\n" if isinstance(value, list) else f"{key}={joined}\n")


main()
