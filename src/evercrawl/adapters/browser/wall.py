"""Cut off a program's network and start it, with two pipes as its files 3 and 4:
`python -m evercrawl.adapters.browser.wall UID READ_FD WRITE_FD PROGRAM ARGUMENTS...`. UID 0: the user stays.

Two walls of the kernel (man 7 network_namespaces, man 2 seccomp); one of them must hold, or nothing is started."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import sys

NO_WALL_CODE = 97  # Exit code if no wall could be set up; the reason is on standard error.
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER = 2
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # Instructions of BPF.
_X32 = 0x40000000  # Set in the numbers of system calls of the x32 interface, which are others.
_IO_URING_SETUP = 425  # A ring opens sockets without the system call.
_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""The audit name of each machine, and its number of the system call `socket`."""


def main(uid: int, pipes: tuple[int, int], command: list[str]) -> None:
    """Set up both walls as far as the system allows, check that one holds, and become the program."""
    high = [fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, 10) for pipe in pipes]  # They may be 4 and 3 themselves.
    for number, pipe in enumerate(high, start=3):
        os.dup2(pipe, number, inheritable=True)
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    libc = ctypes.CDLL(None, use_errno=True)
    problems = [problem for problem in (_leave_network(libc), _forbid_sockets(libc)) if problem]
    if reached := _reachable():
        print(f"{reached}; {'; '.join(problems)}", file=sys.stderr)
        raise SystemExit(NO_WALL_CODE)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.execv(command[0], command)


def _leave_network(libc: ctypes.CDLL) -> str:
    """Enter a network namespace without interfaces; return the problem, or nothing."""
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET):
        return f"network namespace: {os.strerror(ctypes.get_errno())}"
    libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # After a change of user, /proc/self belongs to root without it.
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            file = os.open(f"/proc/self/{name}", os.O_WRONLY)  # No text file: the other user may not load its codec.
            os.write(file, text.encode())
            os.close(file)
    except OSError as error:
        return f"user namespace: {error}"
    return ""


def _forbid_sockets(libc: ctypes.CDLL) -> str:
    """Allow only sockets of the families unix and netlink from here on; return the problem, or nothing."""
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return f"seccomp: no filter for {os.uname().machine}"
    audit_name, socket_call = machine
    refuse = _REFUSE | errno.EACCES
    filters = [
        (_LOAD, 0, 0, 4),  # The machine.
        (_EQUAL, 1, 0, audit_name),
        (_RETURN, 0, 0, refuse),
        (_LOAD, 0, 0, 0),  # The number of the system call.
        (_AT_LEAST, 5, 0, _X32),
        (_EQUAL, 4, 0, _IO_URING_SETUP),
        (_EQUAL, 0, 4, socket_call),
        (_LOAD, 0, 0, 16),  # Its first argument, the family.
        (_EQUAL, 2, 0, socket.AF_UNIX),
        (_EQUAL, 1, 0, 16),  # AF_NETLINK
        (_RETURN, 0, 0, refuse),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = b"".join(struct.pack("=HBBI", *one) for one in filters)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(filters), ctypes.addressof(buffer))
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0):
        return f"seccomp: {os.strerror(ctypes.get_errno())}"
    return ""


def _reachable() -> str:
    """Return how a socket could still reach this machine; empty: no way."""
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((address, 9))
                return f"{address} can be reached"
        except OSError:
            continue
    return ""


if __name__ == "__main__":
    main(int(sys.argv[1]), (int(sys.argv[2]), int(sys.argv[3])), sys.argv[4:])
