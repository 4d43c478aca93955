import type { Threat } from '../threat.ts';

/** Using up what everybody needs. The sandboxes of the suite have small limits, which the bait names. */
export const RESOURCES: readonly Threat[] = [
  {
    id: 'fork-bomb',
    threat: 'a fork bomb',
    probe: `
import signal
children = []
try:
    while len(children) <= bait['processes']:
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        children.append(child)
    print(f'ESCAPED {len(children)} processes')
except OSError as error:
    print(f'held after {len(children)} processes: {error}')
finally:
    for child in children: os.kill(child, signal.SIGKILL)
    for child in children: os.waitpid(child, 0)
`,
  },
  {
    id: 'memory',
    threat: 'filling the memory',
    isRough: true,
    probe: `
held = []
for _ in range(2 * bait['memoryBytes'] // 2**24): held.append(b'x' * 2**24)
print('ESCAPED all of it')
`,
  },
  {
    id: 'temporary-folders',
    threat: 'filling temporary folders, which are memory',
    probe: `
def fill(folder):
    path, block = f'{folder}/fill', b'x' * 2**20
    try:
        with open(path, 'wb', 0) as file:
            for _ in range(bait['memoryBytes'] // 2**20): file.write(block)
        return 'had it all'
    finally:
        os.unlink(path)
for folder in ('/tmp', '/var/tmp', '/dev/shm'):
    attempt(folder, lambda: fill(folder))
`,
  },
  {
    id: 'huge-files',
    threat: 'a file without end',
    probe: `
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def grow(path):
    with open(path, 'wb', 0) as file:
        try: file.seek(bait['fileBytes']); return file.write(b'x')
        finally: os.unlink(path)
for folder in (FOLDER, os.environ['HOME']):
    attempt(folder, lambda: grow(f'{folder}/huge'))
`,
  },
  {
    id: 'workspace-disk',
    threat: 'filling the disk with many files, without names, from the background, deaf to signals',
    isRough: true,
    probe: `
import signal, time
def fill():
    for number in range(11 * bait['diskBytes'] // bait['fileBytes']):
        file = open(f'fill-{number}', 'wb', 0)
        os.unlink(file.name)
        held.append(file)
        for _ in range(bait['fileBytes'] // 2**22 - 1): (file.write(b'x' * 2**22), time.sleep(0.05))
    open('filled', 'w').close()
held = []
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    fill()
    os._exit(0)
while not os.path.exists('filled'): time.sleep(0.1)
print('ESCAPED all of it')
`,
  },
  {
    id: 'empty-files',
    threat: 'taking all entries of the disk with files that hold nothing',
    isRough: true,
    probe: `
import time
entries = 5 * bait['diskBytes'] // 4 // 4096
until = time.monotonic() + 80
os.mkdir('rubbish')
for number in range(entries):
    os.mknod(f'rubbish/{number}')
    if number % 250 == 0: time.sleep(0.05)
while time.monotonic() < until:
    os.mknod(f'rubbish/{(entries := entries + 1)}')
    time.sleep(0.1)
print('ESCAPED all of them')
`,
  },
  {
    id: 'descriptors',
    threat: 'using up descriptors, and raising one’s own limits',
    probe: `
for flag in 'nfc':
    attempt(f'raise the limit -{flag}', lambda: sh(f'ulimit -H -{flag} unlimited') or 'raised')
held = []
def take():
    for _ in range(20_001): held.append(os.open('/dev/null', os.O_RDONLY))
    return len(held)
attempt('descriptors', take)
`,
  },
  {
    id: 'inotify',
    threat: 'taking all that a user of the machine has of inotify',
    probe: `
most = int(read('/proc/sys/fs/inotify/max_user_instances'))
held = []
def take():
    while len(held) <= most // 2: held.append(check_descriptor(libc.inotify_init()))
    return len(held)
def check_descriptor(descriptor):
    check(descriptor)
    return descriptor
attempt('inotify', take)
for descriptor in held: os.close(descriptor)
`,
  },
  {
    id: 'pseudo-terminals',
    threat: 'taking all pseudo-terminals of the machine, of one’s own and of those that shells are started on',
    probe: `
import fcntl
held = []
def take():
    while len(held) <= 200: held.append(os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY))
    return len(held)
attempt('pseudo-terminals', take)
print('held' if len(held) == 64 else 'ESCAPED', f'after {len(held)} terminals')
for descriptor in held: os.close(descriptor)
def beside_the_shell():
    master = os.open(os.path.dirname(os.ttyname(0)) + '/ptmx', os.O_RDWR | os.O_NOCTTY)
    return fcntl.ioctl(master, 0x80045430, b'    ') # its number
attempt('one more beside the shell', beside_the_shell)
`,
  },
  {
    // SB342: the whole machine has one share of it.
    id: 'asynchronous-input',
    threat: 'taking all that the machine has of asynchronous input and output (io_setup)',
    probe: `
attempt('io_setup', lambda: call('io_setup', 60_000, ctypes.byref(ctypes.c_ulong())))
`,
  },
  {
    id: 'names',
    threat: 'asking for so many names at once that nobody else gets one resolved',
    isRough: true,
    probe: `
from urllib.parse import urlsplit
proxy = urlsplit(os.environ['http_proxy'])
peers = [socket.create_connection((proxy.hostname, proxy.port), 5) for _ in range(200)]
for number, peer in enumerate(peers): peer.sendall(f'CONNECT n{number}.escape.invalid:443 HTTP/1.1\\r\\n\\r\\n'.encode())
# Those are refused at once; the others would wait until their lookups are given up.
for peer in peers[100:]:
    peer.settimeout(20)
    attempt('a name', lambda: b' 200 ' in peer.recv(4096))
`,
  },
  {
    id: 'orphans',
    threat: 'leaving processes behind: new sessions, no parent, no environment, deaf to signals',
    isRough: true,
    probe: `
import signal
for number in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(each, signal.SIG_IGN)
            for descriptor in range(3): os.close(descriptor)
            os.execve('/bin/sleep', ['sleep', '100000'], {})
        os._exit(0)
    os.wait()
`,
  },
  // The last one: it leaves no room for another program.
  {
    id: 'fork-bomb-left-alone',
    threat: 'a fork bomb that goes on while others work, and is left to its sandbox',
    isRough: true,
    probe: `
import signal
if os.fork() == 0:
    os.setsid()
    for _ in range(bait['processes'] * 2):
        try: os.fork()
        except OSError: break
    signal.alarm(60)
    signal.pause()
`,
  },
];
