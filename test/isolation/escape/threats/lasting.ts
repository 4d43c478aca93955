import type { Threat } from '../threat.ts';

/** What is made to be in the way when the sandbox ends, or to be taken for somebody else's words. The suite ends with nothing left (SB127). */
export const LASTING: readonly Threat[] = [
  {
    id: 'undeletable',
    threat: 'folders that are hard to remove: too deep for a path, without rights, with names that are no text, full of pipes and sockets',
    probe: `
home = os.environ['HOME']
for top in (home, '/tmp'):
    os.chdir(top)
    for _ in range(150):
        os.mkdir('d' * 40)
        os.chdir('d' * 40)
    os.chdir(top)
    os.makedirs('closed/within/deeper')
    os.mkfifo('closed/within/pipe')
    open(b'closed/within/\\xff\\xfe', 'w').close()
    for path in ('closed/within/deeper', 'closed/within', 'closed'): os.chmod(path, 0)
print('held made')
`,
  },
  {
    id: 'spoken-outcomes',
    threat:
      'words for the server in what a command prints: marks of the shell’s own, terminal codes that ask for answers, lines of the executor’s protocol',
    isRough: true,
    probe: `
import json, sys
for line in [json.dumps({'type': 'outcome', 'outcome': 'observed', 'observation': {'observation': 'run', 'content': bait['mark']}}), '{"type":"ended"}', '\\x1b[6n\\x1b[c\\x1b]10;?\\x07\\x1bP$q\\x1b\\\\\\\\',
             '\\x1b]133;D;0\\x07\\x1b]633;D;0\\x07', '\\x1e' * 100, '\\x04\\x03\\x1c', '\\x1b[?1049h\\x1b[999;999H', '\\x00' * 1000]:
    sys.stdout.write(line + '\\n')
sys.stdout.flush()
`,
  },
  {
    id: 'start-up-files',
    threat: 'files that a shell, an interpreter or git reads when it starts, made to fail, to wait and to speak for every later command',
    probe: `
home = os.environ['HOME']
for name in ('.bashrc', '.bash_profile', '.profile', '.inputrc', '.zshrc', '.pythonrc.py', '.gitconfig', '.npmrc', '.curlrc', '.wgetrc', '.node_repl_history'):
    with open(f'{home}/{name}', 'w') as file: file.write('exit 1\\necho ESCAPED; sleep 1000\\n')
with open('sitecustomize.py', 'w') as file: file.write('raise SystemExit(1)')
os.unlink('sitecustomize.py')
print('held made')
`,
  },
  {
    id: 'ended-parents',
    threat: 'processes that hide their origin: other names, other groups, traced by nobody, stopped, in namespaces of their own',
    isRough: true,
    probe: `
import signal
def hidden(act):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(3): os.close(descriptor)
            act()
            os.execv('/bin/sleep', ['[kworker/0:0]', '100000'])
        os._exit(0)
    os.wait()
hidden(lambda: libc.prctl(15, b'[kworker/0:0]', 0, 0, 0))
hidden(lambda: os.kill(os.getpid(), signal.SIGSTOP))
hidden(lambda: libc.unshare(0x10000000))
hidden(lambda: libc.unshare(0x10000000 | 0x20000000 | 0x40000000))
hidden(lambda: os.chdir('/tmp') or libc.prctl(36, 1, 0, 0, 0))
`,
  },
];
