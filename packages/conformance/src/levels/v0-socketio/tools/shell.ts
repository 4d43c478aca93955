import type { Check } from '../../../check.ts';
import { client, input, run, scenarios } from '../../play.ts';

/** The shell of a conversation: one session, whose commands are whole scripts. */
export const shell: readonly Check[] = scenarios('v0-socketio', 'shell', [
  {
    id: 'shell-script',
    title: 'a command is a whole script: lines, heredocs and quotes of any length, with the exit code of its last command',
    cites: ['RT21'],
    steps: () => [
      run('echo one\necho two\n(exit 3)', { content: 'one\ntwo', exit: 3 }),
      run("cat <<'EOF'\n$HOME `x` \\\nEOF\nfor i in 1 2; do\n  echo $i\ndone", '$HOME `x` \\\n1\n2'),
      run(`wc -l <<'END'\n${'a line of a long heredoc\n'.repeat(2000)}END`, '2000'),
      run('echo äöü 漢字 🙂', 'äöü 漢字 🙂'),
    ],
  },
  {
    id: 'shell-screen',
    title: 'content is what a terminal shows: colours taken out, overwritten lines in their last state',
    cites: ['RT22', 'RT38'],
    steps: () => [
      run("printf '\\033[31mred\\033[0m \\033]0;title\\007\\033[1;32mgreen\\033[m\\n'", 'red green'),
      run("printf '10%%\\r50%%\\r100%%\\n'; printf 'ab\\bc\\n'", '100%\nac'),
      run("printf 'a 1%%\\nb 1%%\\n\\033[2Aa 99%%\\nb 99%%\\n'", 'a 99%\nb 99%'),
    ],
  },
  {
    id: 'shell-children',
    title: 'background children that hold the terminal do not hang a command',
    cites: ['RT23'],
    steps: () => [run('sleep 30 & echo started', /started\s*$/), run('echo next', /next\s*$/), run('kill %1; wait; echo gone', /gone\s*$/)],
  },
  {
    id: 'shell-framing',
    title: 'redirections, own prompts and options do not break what belongs to a command',
    cites: ['RT24'],
    isSeparate: true,
    steps: (at) => [
      run(`exec >${at}/out 2>&1; echo hidden`, ''),
      run('(exit 5)', { content: '', exit: 5 }),
      run(`exec >/dev/tty 2>&1; cat ${at}/out`, 'hidden'),
      run('PS1="$ "; PS2="more "', ''),
      run('echo quiet', 'quiet'),
    ],
  },
  {
    id: 'shell-hand-back',
    title: 'a command that outlasts its `timeout` is handed back with exit code −1 and can be interrupted',
    cites: ['RT26', 'RT28'],
    steps: () => [
      run('echo early; sleep 60', { content: 'early', exit: -1, suffix: /\S/ }, { timeout: 1 }),
      input('C-c', { exit: 130 }),
      run('echo free', 'free'),
    ],
  },
  {
    id: 'shell-silence',
    title: 'a command that prints nothing for about ten seconds is handed back and goes on',
    cites: ['RT26'],
    isSeparate: true,
    steps: () => [run('echo early; sleep 100', { content: 'early', exit: -1, suffix: /\S/ }, {}), input('C-c', { exit: 130 })],
  },
  {
    id: 'shell-busy',
    title: 'while a command runs another is not executed, and the answer says so',
    cites: ['RT27'],
    steps: (at) => [
      run('echo begun; sleep 60', { content: 'begun', exit: -1 }, { timeout: 1 }),
      run(`touch ${at}/second`, { exit: -1, suffix: /not executed/i }),
      input('C-c', { exit: 130 }),
      run(`ls ${at}`, ''),
    ],
  },
  {
    id: 'shell-input',
    title: 'text and keys reach the command that runs; with nothing running they are an error in words',
    cites: ['RT28', 'RT39'],
    steps: () => [
      run('read -r -p "name? " name; echo "hi $name"', { content: /name\?/, exit: -1 }, { timeout: 1 }),
      input('Zoë', { content: /hi Zoë/, exit: 0 }),
      run('cat', { content: '', exit: -1 }, { timeout: 1 }),
      input('C-d', { exit: 0 }),
      input('C-c', { content: /ERROR/, exit: -1 }),
    ],
  },
  {
    id: 'shell-key-names',
    title: 'keys are sent by their names too: `Up`, `Tab`, `Escape`; after a text comes the Enter of a keyboard',
    cites: ['RT39', 'RT230'],
    steps: () => [
      run('stty raw -echo; head -c 7 | od -An -c; stty sane', { exit: -1 }, { timeout: 1 }),
      input('Up', { exit: -1 }, { timeout: 1 }),
      input('Tab', { exit: -1 }, { timeout: 1 }),
      input('Escape', { exit: -1 }, { timeout: 1 }),
      input('x', { content: /033\s+\[\s+A\s+\\t\s+033\s+x\s+\\r/, exit: 0 }),
    ],
  },
  {
    id: 'shell-waits',
    title: 'a command that waits for input is handed back early, and the observation says so',
    cites: ['RT35'],
    steps: () => [run('read -r line', { content: '', exit: -1, suffix: /input/ }, {}), input('x', { exit: 0 })],
  },
  {
    id: 'shell-late-output',
    title: 'output that comes between two actions is given with the next',
    cites: ['RT29'],
    steps: () => [
      run('sleep 2; echo late', { content: '', exit: -1 }, { timeout: 1 }),
      input('', { content: /late/, exit: 0 }, { timeout: 10 }),
    ],
  },
  {
    id: 'shell-bytes',
    title: 'bytes that are no UTF-8 and control characters do no harm',
    cites: ['RT30'],
    isSeparate: true,
    steps: () => [
      run("printf 'a\\0b\\001c\\377\\376\\n'", /a.?b.?c/),
      run('head -c 100000 /dev/urandom', { exit: 0 }),
      run('echo still', 'still'),
    ],
  },
  {
    id: 'shell-nobody',
    title: 'nothing asks, pages or wraps for a person who is not there',
    cites: ['RT32'],
    steps: () => [
      run('git --version >/dev/null && echo "${PAGER:-none} ${GIT_PAGER:-none}"', /^(?:cat|none) cat\s*$/),
      run(`printf 'x%.0s' $(seq 300); echo`, /^x{300}\s*$/),
    ],
  },
  {
    id: 'shell-inner',
    title: 'a shell inside the shell takes the commands until it ends',
    cites: ['RT34'],
    steps: () => [
      run('outer=1; bash --norc', { content: '' }),
      run('echo "inner $outer"; (exit 3)', { content: 'inner', exit: 3 }),
      run('exit 5', { exit: 5 }),
      run('echo "outer $outer"', 'outer 1'),
    ],
  },
  {
    id: 'shell-line-ends',
    title: 'a command that changes how the terminal writes line ends changes nothing else',
    cites: ['RT37'],
    isSeparate: true,
    steps: () => [run("stty sane </dev/tty; printf 'a\\nb\\n'", 'a\nb'), run('stty -opost </dev/tty; echo c', 'c')],
  },
  {
    id: 'shell-static',
    title: '`is_static` runs beside the session, in its folder',
    cites: ['RT31'],
    steps: (at) => [
      run(`cd ${at}`, ''),
      client('run', { command: 'pwd', is_static: true, hidden: false }, { content: /conformance-[0-9a-f]+/, exit: 0 }),
    ],
  },
  {
    id: 'shell-user-and-agent',
    title: 'a person and the agent share one session: folder and variables are the same',
    cites: ['RT20', 'EN18'],
    steps: (at) => [
      run(`mkdir -p ${at}/sub && cd ${at}/sub && WHO=agent`, ''),
      client('run', { command: 'echo "$WHO in $PWD"' }, { content: /^agent in .*\/sub\s*$/, exit: 0 }),
    ],
  },
  {
    id: 'shell-ends',
    title: 'a shell that ends (`exit`, `set -e`, `exec`) is replaced by one in its folder with its exported variables',
    cites: ['RT25'],
    isSeparate: true,
    steps: (at) => [
      run('export STORED=yes', ''),
      run('exit 3', { exit: 3 }),
      run('echo $STORED; pwd', new RegExp(`^yes\\s+${at}\\s*$`)),
      run('set -e\nfalse\necho never', { content: '', exit: 1 }),
      run('exec sh -c "exit 4"', { exit: 4 }),
      run('echo $STORED', 'yes'),
    ],
  },
  {
    id: 'shell-stopped',
    title: 'a command that stops its own shell costs at most that shell',
    cites: ['RT45'],
    isSeparate: true,
    steps: () => [run('kill -STOP $$', {}, { timeout: 5 }), run('echo alive', 'alive')],
  },
  {
    id: 'shell-output-file',
    title: 'the whole of a long output is stored as a file, which the line that stands for the rest names',
    cites: ['RT46', 'RT29'],
    steps: () => [
      run('seq 1 30000', /^1\n2\n[^]*output is \w+ in \/\S+\.txt[^]*\n30000\s*$/),
      run('cat $(ls -t ~/.cache/tendon/output/*.txt | head -1) | wc -l', '30000'),
    ],
  },
  {
    id: 'shell-sessions',
    title: 'a `run` with a `session` has a shell of that name, with its own folder and variables; `kill` ends it',
    cites: ['RT47'],
    isSeparate: true,
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
    isSeparate: true,
    steps: () => [
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => client('run', { command: `echo ${n}`, session: `s${n}` }, { content: `${n}`, exit: 0 })),
      client('run', { command: 'echo ninth', session: 's9' }, { kind: 'error', content: /s1.*s8/ }),
      client('kill', { id: 's3' }, { kind: 'run' }),
      client('run', { command: 'echo ninth', session: 's9' }, { content: 'ninth', exit: 0 }),
    ],
  },
  {
    id: 'shell-sessions-refused',
    title: 'a name that no session may have, and input for a session that is not there, are refused in words and nothing runs',
    cites: ['RT49'],
    steps: (at) => [
      run('pwd', /\S/),
      client('run', { command: `touch ${at}/ran`, session: '../x' }, { kind: 'error', content: /\S/ }),
      client('run', { command: 'y', is_input: true, session: 'none' }, { kind: 'error', content: /none/ }),
      client('run', { command: `ls ${at}` }, { content: '', exit: 0 }),
    ],
  },
]);
