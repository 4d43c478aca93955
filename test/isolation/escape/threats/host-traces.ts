import type { Threat } from '../threat.ts';

/** What leads to the host without being asked for by its name: descriptors, links of the kernel's, and what is left behind on its disk. */
export const HOST_TRACES: readonly Threat[] = [
  {
    id: 'open-descriptors',
    threat: 'descriptors that the host’s side left open in a process of the sandbox, and the folders above them',
    probe: `
import glob
def leads_out(descriptor):
    at, top = os.open(descriptor, os.O_PATH | os.O_DIRECTORY), None
    while top != os.fstat(at).st_ino:
        top = os.fstat(at).st_ino
        for name in (bait['secret'].lstrip('/'), 'etc/shadow'):
            try: return os.read(os.open(name, os.O_RDONLY, dir_fd=at), 999)
            except OSError: pass
        at = os.open('..', os.O_PATH | os.O_DIRECTORY, dir_fd=at)
for descriptor in [path for kind in ('fd/*', 'cwd', 'root') for path in glob.glob(f'/proc/[0-9]*/{kind}') if os.path.isdir(path)]:
    attempt(descriptor, lambda: leads_out(descriptor))
attempt('the working folder', lambda: leads_out('.'))
`,
  },
  {
    id: 'own-executable',
    threat: 'writing over a program of the host through the link of a process that runs it (`/proc/*/exe`), and through its mapped files',
    probe: `
import glob
for path in glob.glob('/proc/[0-9]*/exe') + ['/proc/self/exe', '/proc/self/map_files']:
    attempt(path, lambda: not os.path.isdir(path) and open_for_writing(path))
child = os.fork()
if child == 0:
    # A program that has ended is not busy any more: its link is held beyond its end.
    os.execv('/bin/sleep', ['sleep', '0.2'])
held = os.open(f'/proc/{child}/exe', os.O_PATH)
os.waitpid(child, 0)
attempt('a program that has ended', lambda: open_for_writing(f'/proc/self/fd/{held}'))
`,
  },
  {
    id: 'above-the-root',
    threat: 'climbing above the root with a root of one’s own: chroot and a descriptor from outside it, pivot_root, `..` without end',
    probe: `
climb = '''
import os
os.makedirs('/tmp/below', exist_ok=True)
outside = os.open('/', os.O_RDONLY)
os.chroot('/tmp/below')
os.fchdir(outside)
for _ in range(100): os.chdir('..')
os.chroot('.')
print(open(%r).read())
''' % bait['secret']
namespace = ['unshare', '--user', '--map-root-user', '--mount']
attempt('chroot', lambda: subprocess.run([*namespace, 'python3', '-c', climb], check=True, capture_output=True, text=True).stdout)
pivot = 'mkdir -p /tmp/p && mount --rbind / /tmp/p && cd /tmp/p && mkdir -p tmp/old && pivot_root . tmp/old && cat tmp/old/../../..' + bait['secret']
attempt('pivot_root', lambda: sh(f"{' '.join(namespace)} sh -c '{pivot}'"))
attempt('..', lambda: read('../' * 200 + bait['secret'].lstrip('/')))
`,
  },
  {
    id: 'owners-and-attributes',
    threat: 'files that outlive the sandbox as somebody else’s: owners, file capabilities, attributes that nobody can remove',
    probe: `
import fcntl, struct
open('marked', 'w').close()
for owner in (0, 1, 65534, 1_900_000_000):
    attempt(f'give it to {owner}', lambda: owner != os.getuid() and (os.chown('marked', owner, -1) or 'given'))
    attempt(f'to the group {owner}', lambda: owner != os.getgid() and (os.chown('marked', -1, owner) or 'given'))
capability = struct.pack('<IIIII', 0x02000001, 0xffffffff, 0, 0xffffffff, 0)
for name in ('security.capability', 'security.ima', 'trusted.overlay.opaque'):
    attempt(name, lambda: os.setxattr('marked', name, capability) or 'set')
with open('marked') as file:
    for flag, what in ((0x10, 'immutable'), (0x20, 'append only')):
        attempt(what, lambda: fcntl.ioctl(file, 0x40086602, struct.pack('l', flag)) is not None and 'set')
`,
  },
  {
    id: 'leases',
    threat: 'leases on files of the system, for which a program of the host that opens them would wait',
    probe: `
import fcntl, sys
for path in ['/usr/bin/env', os.path.realpath(sys.executable), '/usr/lib/os-release', '/etc/passwd', '/etc/ld.so.cache']:
    for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
        attempt(f'{path} {kind}', lambda: not fcntl.fcntl(os.open(path, os.O_RDONLY), fcntl.F_SETLEASE, kind) and os.stat(path).st_uid != os.getuid() and 'held')
`,
  },
  {
    id: 'host-identity',
    threat: 'which machine it is: its name, its identifiers and serial numbers, its users',
    probe: `
attempt('its name', lambda: os.uname().nodename == bait['hostname'] or bait['hostname'] in read('/etc/hosts').decode().split())
for path in ['/etc/machine-id', '/var/lib/dbus/machine-id', '/sys/class/dmi/id/product_uuid', '/sys/class/dmi/id/product_serial', '/sys/class/dmi/id/board_serial']:
    attempt(path, lambda: read(path).strip())
attempt('the logins', lambda: [path for path in ('/var/run/utmp', '/var/log/wtmp', '/var/log/lastlog') if os.path.exists(path) and read(path)])
`,
  },
  {
    id: 'planted-files',
    threat:
      'files for the server to read, list and write that never end or never answer: pipes, sockets, devices, links in a ring, names that are no text',
    probe: `
import time
os.makedirs('planted/ring', exist_ok=True)
os.mkfifo('planted/pipe')
socket.socket(socket.AF_UNIX).bind('planted/socket')
for name, target in {'zero': '/dev/zero', 'terminal': '/dev/tty', 'kernel': '/proc/kmsg', 'itself': 'itself', 'ring/ring': '..', 'self': '/proc/self/fd/0', 'pipe-link': 'pipe'}.items():
    os.symlink(target, f'planted/{name}')
for name in (b'\\xff\\xfe', b'a\\nb', b'\\x1b[2J', b'x' * 255, b'-rf', b'$(id)'): open(b'planted/' + name, 'w').close()
open('planted-all', 'w').close()
end = time.monotonic() + 40
while not os.path.exists('planted-enough') and time.monotonic() < end: time.sleep(0.05)
print('held planted' if os.path.exists('planted-enough') else 'nobody looked')
`,
  },
];
