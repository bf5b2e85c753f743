#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes an OCI bundle of an image and a DaemonSet:
bundle.py [--without CAPABILITY] [--mount-kmsg] [--allow-kmsg] [--plugin] IMAGE MANIFEST.yaml BUNDLE

The DaemonSet, as rendered, is translated as kubelet and containerd do. A key that is not known here ends the
translation: no setting is left out of the test silently.
--without takes a capability away; --mount-kmsg adds the node's /dev/kmsg as a volume, which does not give the right to
open it; --allow-kmsg gives the device, as a runtime can that is configured so. --plugin: the DaemonSet is
node-problem-detector's, and what it would run, the only plugin of its monitor, runs in its place.
Beside config.json, the file `settings` has the guest's settings (in shell)."""
import argparse
import gzip
import io
import json
import os
import re
import shlex
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
# The runtimes' own default profile: that of Podman and CRI-O, of which containerd has a copy.
SECCOMP = "/usr/share/containers/seccomp.json"


def die(message):
    sys.exit(f"bundle.py: error: {message}")


def default_seccomp(capabilities):
    """The default profile for a container with these capabilities, on amd64."""
    if not os.path.exists(SECCOMP):
        die(f"{SECCOMP} is missing: install the Debian package golang-github-containers-common, or run 'make deps'")
    with open(SECCOMP, encoding="utf-8") as file:
        profile = json.load(file)

    def holds(condition):
        if set(condition) - {"caps", "arches", "minKernel"}:
            die(f"a condition in {SECCOMP} is not known: teach bundle.py")
        return ("amd64" in condition.get("arches", ["amd64"])
                and all(each.removeprefix("CAP_") in capabilities for each in condition.get("caps", [])))

    rules = []
    for rule in profile["syscalls"]:
        excludes = rule.get("excludes") or {}
        if holds(rule.get("includes") or {}) and not (excludes and holds(excludes)):
            keys = ("names", "action", "args", "errnoRet")
            rules.append({key: rule[key] for key in keys if rule.get(key) is not None})
    return {"defaultAction": profile["defaultAction"], "defaultErrnoRet": profile.get("defaultErrnoRet", 1),
            "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"], "syscalls": rules}


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


def read(path):
    """The pod of the DaemonSet in a file, and the data of its ConfigMaps."""
    with open(path, encoding="utf-8") as file:
        objects = [each for each in yaml.safe_load_all(file) if each]
    [template] = [each["spec"]["template"]["spec"] for each in objects if each["kind"] == "DaemonSet"]
    return template, {each["metadata"]["name"]: each["data"] for each in objects if each["kind"] == "ConfigMap"}


def config_folder(config, data, bundle):
    """The folder, relative to the bundle, that has the files of a ConfigMap."""
    [name] = only("configMap", config, "name")
    os.mkdir(f"{bundle}/{name}")
    for key, text in data[name].items():
        with open(f"{bundle}/{name}/{key}", "w", encoding="utf-8") as file:
            file.write(text)
    return name


def use_plugin(spec, data, rootfs):
    """The container runs the plugin of the only monitor, with the program where deploy/npd/Containerfile has it."""
    [[monitor]] = [each.values() for each in data.values()]
    [rule] = json.loads(monitor)["rules"]
    os.makedirs(os.path.dirname(rootfs + rule["path"]))
    os.rename(rootfs + "/xidscope", rootfs + rule["path"])
    spec["process"]["args"] = [rule["path"], *rule["args"]]
    spec["linux"]["cgroupsPath"] = "/pod/npd"


def from_daemonset(template, data, options, tag, image):
    without = options.without
    # Those in the second line concern the scheduler, the API server and stopping, not the container's world.
    containers, volumes, host_network, host_pid, grace, *_ = only(
        "pod", template, "containers", "volumes", "hostNetwork", "hostPID", "terminationGracePeriodSeconds",
        "tolerations", "nodeSelector", "priorityClassName", "automountServiceAccountToken", "enableServiceLinks",
        "serviceAccountName")
    [container] = containers
    name, command, args, env, security, resources, mounts, probe, *_ = only(
        "container", container, "image", "command", "args", "env", "securityContext", "resources", "volumeMounts",
        "livenessProbe", "name", "imagePullPolicy")
    if name != tag and not options.plugin:
        die(f"the DaemonSet runs {name}, the image is {tag}")
    # The guest has no AppArmor profile.
    privileged, read_only, user, capabilities, seccomp, apparmor, escalation = only(
        "securityContext", security or {}, "privileged", "readOnlyRootFilesystem", "runAsUser", "capabilities",
        "seccompProfile", "appArmorProfile", "allowPrivilegeEscalation")
    if user:
        die("runAsUser other than 0: teach bundle.py")
    if seccomp not in (None, {"type": "RuntimeDefault"}) or apparmor not in (None, {"type": "Unconfined"}):
        die("another profile: teach bundle.py")
    added, dropped = only("capabilities", capabilities or {}, "add", "drop")
    granted = set() if "ALL" in (dropped or []) else set(DEFAULT_CAPABILITIES) - set(dropped or [])
    granted |= set(added or [])
    environment = {**dict(each.split("=", 1) for each in image.get("Env", [])),
                   **{each["name"]: each.get("value", "of-the-api-server") for each in env or []}}

    spec = specification(
        (command or image.get("Entrypoint", [])) + (args or image.get("Cmd", [])),
        [f"{key}={value}" for key, value in environment.items()],
        CAPABILITIES if privileged else [each for each in CAPABILITIES if each in granted],
        read_only_sys=not privileged,
        new_namespaces=([] if host_network else ["network"]) + ([] if host_pid else ["pid"])
        + ([] if privileged else ["cgroup"]))
    spec["root"]["readonly"] = bool(read_only)
    spec["process"]["noNewPrivileges"] = escalation is False
    linux = spec["linux"]
    if privileged:
        # All of the node's devices; kmsg stands for them.
        linux["devices"] = [{"path": "/dev/kmsg", **KMSG}]
        linux["resources"]["devices"] = [{"allow": True, "access": "rwm"}]
    else:
        linux.update(maskedPaths=MASKED, readonlyPaths=READ_ONLY)
        linux["resources"]["devices"] = [{"allow": False, "access": "rwm"}]
    if seccomp:
        linux["seccomp"] = default_seccomp(granted - set(without))

    _, limits = only("resources", resources or {}, "requests", "limits")
    memory, cpu = only("limits", limits or {}, "memory", "cpu")
    if memory:
        linux["resources"]["memory"] = {"limit": memory_bytes(memory)}
    if cpu:
        linux["resources"]["cpu"] = {"quota": int(cpu.removesuffix("m")) * 100, "period": 100000}

    created, paths = [], {}
    for volume in volumes or []:
        volume_name, host_path, empty, config = only("volume", volume, "name", "hostPath", "emptyDir", "configMap")
        if config:
            paths[volume_name] = config_folder(config, data, options.bundle)
            continue
        if empty:
            size, medium = only("emptyDir", empty, "sizeLimit", "medium")
            if medium != "Memory":
                die("an emptyDir on disk: teach bundle.py")
            paths[volume_name] = {"type": "tmpfs", "source": "tmpfs", "options": ["rw", f"size={memory_bytes(size)}"]}
            continue
        paths[volume_name], kind = only("hostPath", host_path, "path", "type")
        if kind == "DirectoryOrCreate":
            created.append(paths[volume_name])
        elif kind != "Directory":
            die(f"hostPath of type {kind}: teach bundle.py")
    for mount in mounts or []:
        mount_name, target, mount_read_only = only("volumeMount", mount, "name", "mountPath", "readOnly")
        if isinstance(paths[mount_name], dict):
            spec["mounts"].append({"destination": target, **paths[mount_name]})
        else:
            spec["mounts"].append(bind(paths[mount_name], target, mount_read_only))

    execute, *_ = only("livenessProbe", probe or {}, "exec", "initialDelaySeconds", "periodSeconds", "timeoutSeconds",
                       "failureThreshold")
    return spec, {"create": created, "grace": grace or 30, "probe": (execute or {}).get("command", [])}


def host_path(spec, path):
    """A path of the container as the node has it."""
    for mount in spec["mounts"]:
        if mount["type"] == "bind" and path.startswith(mount["destination"] + "/"):
            return mount["source"] + path[len(mount["destination"]):]
    die(f"no volume holds {path}: it would not exist on the node")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--mount-kmsg", action="store_true")
    parser.add_argument("--allow-kmsg", action="store_true")
    parser.add_argument("--plugin", action="store_true")
    for name in ("image", "settings", "bundle"):
        parser.add_argument(name)
    return parser.parse_args()


def vary(spec, options):
    """What the bundle has less or more than the DaemonSet."""
    linux, sets = spec["linux"], spec["process"]["capabilities"]
    for kind, names in sets.items():
        sets[kind] = [each for each in names if each.removeprefix("CAP_") not in options.without]
    if options.mount_kmsg:
        spec["mounts"].append(bind("/dev/kmsg", "/dev/kmsg", True))
    if options.allow_kmsg:
        linux["devices"] = [{"path": "/dev/kmsg", **KMSG}]
        linux["resources"]["devices"].append({"allow": True, "access": "r", **KMSG})


def main():
    options = parse()
    os.makedirs(options.bundle + "/rootfs")
    tag, config = unpack(options.image, options.bundle + "/rootfs")
    template, data = read(options.settings)
    spec, of_guest = from_daemonset(template, data, options, tag, config)
    vary(spec, options)
    if options.plugin:
        use_plugin(spec, data, options.bundle + "/rootfs")
    args = spec["process"]["args"]
    output = "/run/xidscope/health.json" if options.plugin else args[args.index("--output") + 1]
    of_guest["output"] = host_path(spec, output)
    with open(options.bundle + "/config.json", "w", encoding="utf-8") as file:
        json.dump(spec, file, indent=1)
    with open(options.bundle + "/settings", "w", encoding="utf-8") as file:
        for key, value in of_guest.items():
            words = value if isinstance(value, list) else [value]
            joined = " ".join(shlex.quote(str(word)) for word in words)
            file.write(f"{key}=({joined})\n" if isinstance(value, list) else f"{key}={joined}\n")


main()
