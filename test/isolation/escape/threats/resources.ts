import type { Threat } from '../threat.ts';

/** Using up what everybody needs. The sandboxes of the suite have small limits, which the bait tells. */
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
    threat: 'filling the disk with many files in the workspace',
    notHeld: {
      local: 'no quota on the workspace, only on the size of one file; `tendon sandboxes` shows what is taken',
      docker: 'as `local`',
      remote: 'as the host’s driver',
    },
    probe: `
def fill():
    try:
        for number in range(3):
            with open(f'fill-{number}', 'wb') as file: os.posix_fallocate(file.fileno(), 0, bait['fileBytes'] - 1)
        return f'{3 * bait["fileBytes"]} bytes'
    finally:
        for number in range(3): os.path.exists(f'fill-{number}') and os.unlink(f'fill-{number}')
attempt('three of the largest files', fill)
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
