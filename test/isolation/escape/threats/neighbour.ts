import type { Threat } from '../threat.ts';
import { THROUGH_PROXY } from './through-proxy.ts';

/** What a sandbox wants of everything, while the one beside it takes all that it gets. */
export const NEIGHBOUR_WORKS = `${THROUGH_PROXY}
import fcntl, select, signal, threading
def own(what, call):
    try: call()
    except OSError as error: print(f'ESCAPED nothing is left for others: no {what}: {error}')
    else: print(f'held {what}')
def must(holds, words=''):
    if not holds: raise OSError(words)
def file():
    with open('own', 'wb') as opened:
        opened.write(b'x' * 2**20)
        opened.flush()
        os.fsync(opened.fileno())
    os.unlink('own')
def entries():
    for number in range(100): open(f'own-{number}', 'w').close()
    for number in range(100): os.unlink(f'own-{number}')
def pipe():
    ends = os.pipe()
    must(fcntl.fcntl(ends[0], 1032) == 65536, 'a small one')
    for end in ends: os.close(end)
def passed():
    here, there = socket.socketpair()
    socket.send_fds(here, [b'x'], [0, 1])
    must(len(socket.recv_fds(there, 1, 2)[1]) == 2)
def queued():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN + 1])
    check(libc.sigqueue(os.getpid(), signal.SIGRTMIN + 1, ctypes.c_void_p(0)))
    must(signal.sigtimedwait([signal.SIGRTMIN + 1], 5))
def queue():
    check(libc.mq_open(b'/own', os.O_CREAT | os.O_RDWR, 0o600, None))
    check(libc.mq_unlink(b'/own'))
def watched():
    check(libc.inotify_add_watch(check_descriptor(libc.inotify_init()), b'.', 2))
def check_descriptor(descriptor):
    check(descriptor)
    return descriptor
def thread():
    try: threading.Thread(target=lambda: None).start()
    except RuntimeError as error: raise OSError(str(error))
def terminal():
    for end in os.openpty(): os.close(end)
own('terminal', terminal)
own('file', file)
own('entries of a folder', entries)
own('process', lambda: must(sh('echo one') == 'one'))
own('thread', thread)
own('memory', lambda: must(len(b'x' * 2**26) == 2**26))
own('pipe', pipe)
own('descriptors', lambda: [os.close(each) for each in [os.open('/dev/null', os.O_RDONLY) for _ in range(500)]])
own('descriptors to pass on', passed)
own('signal', queued)
own('message queue', queue)
own('inotify', watched)
own('epoll', lambda: select.epoll().register(socket.socket(), 1))
own('answer of the proxy', lambda: must(b' 403 ' in ask(b'CONNECT localhost:80 HTTP/1.1\\r\\n\\r\\n')))
own('socket on its loopback', lambda: socket.create_server(('127.0.0.1', 0)).close())
`;

/** One sandbox takes all that it can of one thing and keeps it; the other one gets what it wants of everything. */
export const NEIGHBOUR: readonly Threat[] = [
  {
    id: 'all-processors',
    threat: 'all processors: more busy programs than there are',
    takes: true,
    probe: `
children = []
for _ in range(2 * os.cpu_count() + 2):
    child = os.fork()
    if child == 0:
        while True: pass
    children.append(child)
hold()
for child in children: os.kill(child, 9)
for child in children: os.waitpid(child, 0)
`,
  },
  {
    id: 'all-memory',
    threat: 'all memory: of programs, of files without a name, of sockets nobody reads',
    takes: true,
    probe: `
own = bytearray(b'x') * (bait['memoryBytes'] // 2)
unnamed = os.memfd_create('all')
for _ in range(bait['memoryBytes'] // 5 // 2**20): os.write(unnamed, b'x' * 2**20)
sockets = [socket.socketpair() for _ in range(100)]
for here, _ in sockets:
    here.setblocking(False)
    try:
        while True: here.send(b'x' * 65536)
    except BlockingIOError: pass
churning = os.fork()
if churning == 0:
    while True: bytearray(b'x') * (bait['memoryBytes'] // 10)
hold()
os.kill(churning, 9)
os.waitpid(churning, 0)
`,
  },
  {
    id: 'all-of-the-disk',
    threat: 'the disk: writing and making sure of it without end',
    takes: true,
    probe: `
def write():
    while True:
        with open('all', 'wb') as file:
            for _ in range(16):
                file.write(b'x' * 2**20)
                file.flush()
                os.fsync(file.fileno())
child = os.fork()
if child == 0: write()
hold()
os.kill(child, 9)
os.waitpid(child, 0)
os.unlink('all')
`,
  },
  {
    id: 'all-entries',
    threat: 'the entries of the disk: making, naming and removing files without end',
    takes: true,
    probe: `
os.makedirs('rubbish', exist_ok=True)
def churn():
    while True:
        for number in range(2000): open(f'rubbish/{number}', 'w').close()
        for number in range(2000): os.rename(f'rubbish/{number}', f'rubbish/{number}-moved')
        for number in range(2000): os.unlink(f'rubbish/{number}-moved')
child = os.fork()
if child == 0: churn()
hold()
os.kill(child, 9)
os.waitpid(child, 0)
`,
  },
  {
    id: 'all-processes',
    threat: 'as many processes as it gets',
    takes: true,
    probe: `
import signal
children = []
try:
    while len(children) < 5000:
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        children.append(child)
except OSError: pass
hold()
for child in children: os.kill(child, 9)
for child in children: os.waitpid(child, 0)
`,
  },
  {
    id: 'all-descriptors',
    threat: 'as many open files as it gets, in many processes',
    takes: true,
    probe: `
import signal
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        held = []
        try:
            while True: held.append(os.open('/dev/null', os.O_RDONLY))
        except OSError: signal.pause()
    children.append(child)
hold()
for child in children: os.kill(child, 9)
for child in children: os.waitpid(child, 0)
`,
  },
  {
    id: 'all-terminals',
    threat: 'the pseudo-terminals of the machine',
    takes: true,
    probe: `
held = []
try:
    while len(held) < 8000: held += os.openpty()
except OSError: pass
for descriptor in held[-2:]: os.close(descriptor)
hold()
`,
  },
  {
    id: 'all-pipes',
    threat: 'the memory that pipes of a user may have',
    takes: true,
    probe: `
import fcntl
held = []
try:
    while len(held) < 1500:
        held.append(os.pipe())
        fcntl.fcntl(held[-1][0], 1031, 2**20)
except OSError: pass
try:
    while len(held) < 1500: held.append(os.pipe())
except OSError: pass
hold()
`,
  },
  {
    id: 'all-passed-on',
    threat: 'the descriptors that a user may have on their way through sockets',
    takes: true,
    probe: `
held = []
try:
    while len(held) < 1000:
        held.append(socket.socketpair())
        held[-1][0].setblocking(False)
        for _ in range(20): socket.send_fds(held[-1][0], [b'x'], [0] * 250)
except OSError: pass
hold()
`,
  },
  {
    id: 'all-signals',
    threat: 'the signals that may wait for a user’s processes',
    takes: true,
    probe: `
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN + 1])
count = 0
while count < 200_000 and libc.sigqueue(os.getpid(), signal.SIGRTMIN + 1, ctypes.c_void_p(0)) == 0: count += 1
hold()
`,
  },
  {
    id: 'all-queues',
    threat: 'message queues, and what may lie in a user’s',
    takes: true,
    probe: `
for number in range(300): libc.mq_open(f'/all-{number}'.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
hold()
for number in range(300): libc.mq_unlink(f'/all-{number}'.encode())
`,
  },
  {
    id: 'all-watches',
    threat: 'what a user may watch: inotify, epoll',
    takes: true,
    probe: `
import select
for _ in range(1000):
    if libc.inotify_init() == -1: break
polled, held = select.epoll(), []
try:
    while len(held) < 1000:
        held.append(os.eventfd(0))
        polled.register(held[-1], 1)
except OSError: pass
hold()
`,
  },
  {
    id: 'all-connections',
    threat: 'the proxy’s connections: as many as it takes, that never say what they want or ask for names that take long',
    takes: true,
    probe: `${THROUGH_PROXY}
held = []
try:
    while len(held) < 1000:
        held.append(socket.create_connection((proxy.hostname, proxy.port), 5))
        held[-1].sendall(f'CONNECT n{len(held)}.escape.invalid:443 HTTP/1.1\\r\\n'.encode() + b'\\r\\n' * (len(held) % 2))
except OSError: pass
hold()
`,
  },
  {
    id: 'endless-output',
    threat: 'output without end, in every way that a terminal can be written to',
    takes: true,
    isRough: true,
    probe: `
child = os.fork()
if child == 0:
    while True: os.write(1, b'\\x1b[2J\\x1b]0;x\\x07\\r\\n' * 500 + b'x' * 60000 + os.urandom(100))
hold()
os.kill(child, 9)
os.waitpid(child, 0)
`,
  },
];
