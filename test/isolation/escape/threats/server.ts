import type { Threat } from '../threat.ts';

/** The server itself, what it keeps, and the sandboxes of others. */
export const SERVER: readonly Threat[] = [
  {
    id: 'host-sockets',
    threat: 'sockets of the host: the container engine’s (docker.sock), D-Bus, systemd, any other',
    isControl: true,
    probe: `
for path in ['/var/run/docker.sock', '/run/docker.sock', '/run/podman/podman.sock', '/run/containerd/containerd.sock', '/run/dbus/system_bus_socket',
             '/run/systemd/private', '/run/tendon-test-docker/engine.sock', bait['socket']]:
    attempt(path, lambda: connect(socket.AF_UNIX, path))
`,
  },
  {
    id: 'abstract-sockets',
    threat: 'abstract unix sockets of the host, which no file permission guards',
    isControl: true,
    probe: `attempt('abstract', lambda: connect(socket.AF_UNIX, '\\0' + bait['abstract']))`,
  },
  {
    id: 'server-files',
    threat: 'the server’s database, journals, keys and the folders of its sandboxes',
    isControl: true,
    probe: `
for folder in [bait['home'], bait['stateRoot']]:
    attempt(folder, lambda: os.listdir(folder))
for top in ('/run', '/tmp', '/var/tmp', '/dev/shm'):
    attempt(f'folders of sandboxes in {top}', lambda: [name for name in os.listdir(top) if name.startswith('tendon-')])
`,
  },
  {
    id: 'workspace-swap',
    threat:
      'the folder above another conversation’s workspace: swapping that for a link to the server’s home with `RENAME_EXCHANGE`, without end, while its sandbox starts again and again',
    probe: `
import time
os.makedirs('swapped', exist_ok=True)
os.symlink(bait['home'], 'swapped-link')
end = time.monotonic() + 40
swaps = 0
while not (os.path.exists('swapped-enough') and swaps > 10000) and time.monotonic() < end:
    for _ in range(100):
        check(libc.renameat2(-100, b'swapped', -100, b'swapped-link', 2))
        swaps += 1
    if swaps == 100: open('swapped-began', 'w').close()
print('held' if os.path.exists('swapped-enough') and swaps > 10000 else 'nobody raced', 'after', swaps, 'swaps')
`,
  },
  {
    id: 'other-conversations',
    threat: 'the sandbox of another conversation: its files, its home, its processes, its executor',
    isControl: true,
    probe: `
for folder in bait['others']:
    attempt(folder, lambda: sh(f'cat {folder}/*'))
    attempt(f'write into {folder}', lambda: open_for_writing(f'{folder}/theirs'))
mark = bait['mark']
attempt('its processes', lambda: sh(f"grep -al {mark[:8]}'{mark[8:]}'-other /proc/[0-9]*/cmdline || true"))
for path in {word for word in read('/proc/net/unix').decode().split() if word.startswith('/')}:
    attempt(f'socket {path}', lambda: '/tendon-' in path and connect(socket.AF_UNIX, path, b'GET /server_info HTTP/1.0\\r\\n\\r\\n'))
`,
  },
  {
    id: 'own-executor',
    threat: 'its own executor: its journal, its socket, and standing in its place to lie to the server',
    probe: `
def answers(path):
    return b'incarnation' in connect(socket.AF_UNIX, path, b'GET /server_info HTTP/1.0\\r\\n\\r\\n') and path
for top in ('/run', '/var/lib', '/tmp', '/opt', os.environ['HOME']):
    for folder, _, names in os.walk(top):
        for path in [f'{folder}/{name}' for name in names]:
            if path.endswith('.sock'): attempt(path, lambda: answers(path))
for folder in ('/run/tendon/link', '/var/lib/tendon', '/run/tendon'):
    attempt(f'in {folder}', lambda: [name for name in os.listdir(folder) if folder != '/run/tendon'])
    attempt(f'a socket in {folder}', lambda: socket.socket(socket.AF_UNIX).bind(f'{folder}/executor.sock') or 'made')
    attempt(f'move {folder} away', lambda: os.rename(folder, folder + '-old') or 'moved')
attempt('the executor as a process', lambda: sh("grep -al 'inc''arnation' /proc/[0-9]*/cmdline || true"))
`,
  },
];
