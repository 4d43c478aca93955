import type { Threat } from '../threat.ts';

/** What the host keeps to itself. */
export const HOST_FILES: readonly Threat[] = [
  {
    id: 'host-files',
    threat: 'reading files of the host: the server’s home, its users’ homes, password hashes, keys, also by way of `/proc/*/root`',
    isControl: true,
    probe: `
for path in [bait['secret'], '/etc/shadow', '/etc/gshadow', '/root/.ssh/id_rsa', '/etc/ssh/ssh_host_ed25519_key', '/etc/sudoers']:
    attempt(path, lambda: read(path))
for root in ['/proc/1/root', '/proc/self/root', '/proc/1/cwd', '/proc/self/cwd/../../../..']:
    attempt(root, lambda: read(root + bait['secret']))
for folder in [bait['home'], bait['userHome'], '/root', '/home/*', '/boot', '/var/log/*']:
    attempt(f'list {folder}', lambda: folder != os.environ['HOME'] and sh(f'for each in {folder}; do test "$each" = "$HOME" || head -c 99 "$each"/*; done'))
`,
  },
  {
    id: 'mount-table',
    threat:
      'the places of the host that the kernel names in the table of one’s own mounts: opening them, and finding those of others there',
    probe: `
table = [line.split() for line in open('/proc/self/mountinfo')]
system = tuple(fields[3] for fields in table if fields[3] == fields[4] != '/')
roots = {fields[3] for fields in table if fields[3] != '/' and not fields[3].startswith(system)}
for root in sorted(roots):
    attempt(root, lambda: os.lstat(root) and 'is there')
for other in bait['others']:
    attempt(f'{other} in the table', lambda: [fields[4] for fields in table if '/'.join(other.split('/')[-2:]) in fields[3]])
for name in ('statmount', 'listmount'):
    attempt(name, lambda: call(name, 0, 0, 0, 0))
`,
  },
  {
    id: 'host-environment',
    threat: 'reading the server’s environment, where its keys are',
    probe: `
attempt('own environment', lambda: os.environ.get(bait['variable']))
attempt('environments of all processes', lambda: sh("cat /proc/[0-9]*/environ 2>/dev/null | tr '\\\\0' '\\\\n' | grep '^" + bait['variable'] + "='"))
`,
  },
  {
    id: 'host-disks',
    threat: 'past the files: disks, memory and kernel log as devices, device files made anew, file handles of the same disk',
    probe: `
import glob, stat
for path in ['/dev/mem', '/dev/kmem', '/dev/port', '/dev/kmsg', '/proc/kcore', '/proc/kmsg', *glob.glob('/dev/[svn][dv][ame]*')]:
    attempt(path, lambda: os.open(path, os.O_RDONLY))
for folder in ['/tmp', FOLDER]:
    attempt(f'make a disk in {folder}', lambda: os.mknod(f'{folder}/disk', 0o600 | stat.S_IFBLK, os.makedev(8, 0)) or 'made')
attempt('open_by_handle_at', lambda: call('open_by_handle_at', -100, 0, 0))
attempt('kernel log', lambda: check(libc.klogctl(3, ctypes.create_string_buffer(4096), 4096)))
attempt('kernel addresses', lambda: sh("awk '$1 !~ /^0+$/' /proc/kallsyms | head -c 60"))
`,
  },
  {
    id: 'write-outside',
    threat: 'writing to the host: its files, the system’s, the executor’s program, through `..` and links',
    isControl: true,
    probe: `
import glob
def make(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)
    return 'made'
attempt('canary of the host', lambda: open_for_writing(bait['canary']))
os.symlink(bait['canary'], 'out'); attempt('through a link', lambda: open_for_writing('out')); os.unlink('out')
attempt('through ..', lambda: open_for_writing('../' * 20 + bait['canary']))
attempt('hard link', lambda: os.link(bait['canary'], 'linked') or 'linked')
for path in ['/etc/passwd', '/etc/hosts', '/etc/ld.so.preload', '/usr/bin/env', *glob.glob('/opt/tendon/*/*')[:20]]:
    attempt(path, lambda: not os.path.isdir(path) and open_for_writing(path))
for folder in ['/', '/etc', '/usr/bin', '/usr/lib', '/opt', '/opt/tendon/bin', '/opt/tendon/executor', '/run/tendon/proxy', '/var/spool/cron']:
    attempt(f'a file in {folder}', lambda: make(f'{folder}/escape-probe'))
`,
  },
  {
    id: 'own-tools',
    threat: 'leaving in a person’s project what the person’s tools run: git’s configuration and hooks, folders of editors, `.envrc`',
    isControl: true,
    probe: `
def leave(path):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'a') as file: file.write('\\n')
    return 'left'
for path in ['.git/config', '.git/hooks/pre-commit', '.git/commondir', '.vscode/tasks.json', '.idea/workspace.xml', '.envrc']:
    attempt(path, lambda: leave(path))
for path in ['.envrc', '.idea']:
    attempt(f'{path} anew', lambda: os.rmdir(path) or leave(path))
attempt('by git', lambda: sh("git config core.fsmonitor 'touch ran' && echo changed"))
attempt('another configuration', lambda: sh('cp .git/config own; mv -f own .git/config && echo replaced'))
attempt('another .git', lambda: os.rename('.git', '.git-aside') or 'moved')
attempt('uncovered', lambda: sh("unshare -Urm sh -c 'umount .git/config || mount -o remount,rw,bind .git/config' 2>&1 && echo uncovered"))
`,
  },
  {
    id: 'symlink-races',
    threat: 'making the server read or write a file of the host for it, by a link that is swapped while the server looks',
    isControl: true,
    probe: `
import time
os.makedirs('raced', exist_ok=True)
os.symlink(bait['home'], 'folder-link')
end = time.monotonic() + 30
while not os.path.exists('raced-enough') and time.monotonic() < end:
    os.symlink(bait['secret'], 'next'); os.rename('next', 'raced/read')
    os.symlink(bait['canary'], 'next'); os.rename('next', 'raced/write')
    for name in ('read', 'write'):
        with open('next', 'w') as file: file.write('harmless')
        os.rename('next', f'raced/{name}')
print('held raced' if os.path.exists('raced-enough') else 'nobody raced')
`,
  },
];
