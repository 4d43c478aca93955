import type { Check } from '../../../check.ts';
import { client, run, scenarios } from '../../play.ts';

/** What breaks a shell, and shells of one's own beside it. */
export const shellSurvival: readonly Check[] = scenarios('v0-socketio', [
  {
    id: 'shell-ends',
    title: 'a shell that ends (`exit`, `set -e`, `exec`) is replaced by one in its folder with its exported variables',
    cites: ['RT25'],
    steps: (at) => [
      run('export KEPT=yes', ''),
      run('exit 3', { exit: 3 }),
      run('echo $KEPT; pwd', new RegExp(`^yes\\s+${at}\\s*$`)),
      run('set -e\nfalse\necho never', { content: '', exit: 1 }),
      run('exec sh -c "exit 4"', { exit: 4 }),
      run('echo $KEPT', 'yes'),
    ],
  },
  {
    id: 'shell-stopped',
    title: 'a command that stops its own shell costs at most that shell',
    cites: ['RT45'],
    steps: () => [run('kill -STOP $$', {}, { timeout: 5 }), run('echo alive', 'alive')],
  },
  {
    id: 'shell-output-file',
    title: 'the whole of a long output is kept as a file, which the line that stands for the rest names',
    cites: ['RT46', 'RT29'],
    steps: () => [
      run('seq 1 30000', /^1\n2\n[^]*kept in \/\S+\.txt[^]*\n30000\s*$/),
      run('cat $(ls -t ~/.cache/tendon/output/*.txt | head -1) | wc -l', '30000'),
    ],
  },
  {
    id: 'shell-sessions',
    title: 'a `run` with a `session` has a shell of that name, with its own folder and variables; `kill` ends it',
    cites: ['RT47'],
    steps: (at) => [
      client('run', { command: `mkdir -p ${at}/far && cd ${at}/far && OWN=1`, session: 'build' }, { exit: 0 }),
      client('run', { command: 'echo "free $OWN"' }, { content: 'free', exit: 0 }),
      client('run', { command: 'echo "own $OWN $PWD"', session: 'build' }, { content: `own 1 ${at}/far`, exit: 0 }),
      client('kill', { id: 'build' }, { kind: 'run', content: /build/ }),
      client('run', { command: 'echo "own $OWN"', session: 'build' }, { content: 'own', exit: 0 }),
    ],
  },
  {
    id: 'shell-sessions-bound',
    title: 'eight sessions are open at most, and one that is ended makes room',
    cites: ['RT48'],
    steps: () => [
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => client('run', { command: `echo ${n}`, session: `s${n}` }, { content: `${n}`, exit: 0 })),
      client('run', { command: 'echo ninth', session: 's9' }, { kind: 'error', content: /s1.*s8/ }),
      client('kill', { id: 's3' }, { kind: 'run' }),
      client('run', { command: 'echo ninth', session: 's9' }, { content: 'ninth', exit: 0 }),
    ],
  },
  {
    id: 'shell-sessions-refused',
    title: 'what is no name of a session, and input for one that is not there, is refused in words and nothing runs',
    cites: ['RT49'],
    steps: (at) => [
      run('pwd', /\S/),
      client('run', { command: `touch ${at}/ran`, session: '../x' }, { kind: 'error', content: /\S/ }),
      client('run', { command: 'y', is_input: true, session: 'none' }, { kind: 'error', content: /none/ }),
      client('run', { command: `ls ${at}` }, { content: '', exit: 0 }),
    ],
  },
]);
