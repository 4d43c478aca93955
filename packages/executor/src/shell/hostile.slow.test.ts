import { someOf } from '@tendon/testing';
import { expect, it } from 'vitest';
import { expectedRun, type ExpectedRun } from './expected-run.test-support.ts';
import { startExecutor } from '../testing/start-executor.ts';

type Step = readonly [command: string, expected: ExpectedRun, input?: 'input'];

const BROKEN = /left the shell unable to run commands; a new one was started/;
const NEVER_TAKEN = /Not executed.*run it again/;
const same = { exitCode: 0, suffix: /ended with exit code 0\.\]$/ };

/** What a command can do to its shell. After each the next command runs, with its folder and exported variables. */
const COMMANDS: readonly { readonly name: string; readonly steps: readonly Step[] }[] = [
  { name: 'stops its shell', steps: [['kill -STOP $$; echo went on', { ...same, content: 'went on' }]] },
  { name: 'hangs up its shell', steps: [['kill -HUP $$', { exitCode: 129, suffix: /ended the shell/ }]] },
  { name: 'closes the private line', steps: [['exec 250>&-; (exit 3)', { exitCode: 3, suffix: BROKEN }]] },
  { name: 'puts something else in place of the private line', steps: [['exec 250</dev/null', { exitCode: 0, suffix: BROKEN }]] },
  {
    name: 'closes every descriptor',
    steps: [['for fd in {3..300}; do eval "exec $fd>&-"; done 2>/dev/null; echo closed', { content: 'closed', suffix: BROKEN }]],
  },
  { name: 'closes its terminal', steps: [['exec <&- >&- 2>&-', { content: '' }]] },
  { name: 'reads from /dev/null', steps: [['exec </dev/null', { exitCode: 0 }]] },
  { name: 'leaves no descriptors', steps: [['ulimit -n 3', { exitCode: -1, suffix: BROKEN }]] },
  { name: 'leaves few descriptors', steps: [['ulimit -n 10; echo few', { ...same, content: 'few' }]] },
  {
    name: 'ignores interrupts, and so do its children',
    steps: [
      ["trap '' INT TERM", same],
      ['sleep 300', { exitCode: -1 }],
      ['C-c', { exitCode: -1, suffix: /C-\\/ }, 'input'],
      ['C-\\', { exitCode: 131 }, 'input'],
    ],
  },
  {
    name: 'removes its folder',
    steps: [
      ['mkdir gone; cd gone; rmdir ../gone', { exitCode: 0 }],
      ['cd "$HOME"', same],
    ],
  },
  {
    name: 'empties PATH',
    steps: [
      ['OLD=$PATH PATH=', { ...same }],
      ['ls', { exitCode: 127 }],
      ['PATH=$OLD', same],
    ],
  },
  {
    name: 'has aliases with the names of builtins',
    steps: [
      ['alias printf=false builtin=false eval=false read=false declare=false set=false', same],
      ['unalias -a', same],
    ],
  },
  {
    name: 'has functions with the names of builtins',
    steps: [['printf() { :; }; read() { :; }; builtin() { return 1; }; eval() { :; }', { exitCode: -1, suffix: BROKEN }]],
  },
  { name: 'has a function that makes every builtin succeed', steps: [['builtin() { :; }', { exitCode: -1, suffix: BROKEN }]] },
  { name: 'switches builtins off', steps: [['enable -n builtin printf read declare eval', { exitCode: -1, suffix: BROKEN }]] },
  { name: 'takes the functions away', steps: [['unset -f $(compgen -A function __tendon)', { exitCode: -1, suffix: BROKEN }]] },
  { name: 'takes the variables away', steps: [['unset ${!__tendon*}', {}]] },
  {
    name: 'makes variables read-only',
    steps: [
      ['readonly __tendon_command', {}],
      ['touch never', { exitCode: -1, suffix: NEVER_TAKEN }],
      ['test -e never', { exitCode: 1 }],
    ],
  },
  { name: 'makes its prompt read-only', steps: [['readonly PROMPT_COMMAND=false', {}]] },
  {
    name: 'wants POSIX',
    steps: [
      ['set -o posix', same],
      ['exit 3', { exitCode: 3, suffix: /ended the shell/ }],
    ],
  },
  { name: 'refuses every command', steps: [['shopt -s extdebug; trap false DEBUG', { exitCode: -1, suffix: BROKEN }]] },
  {
    name: 'traps everything',
    steps: [
      ['for what in DEBUG ERR RETURN EXIT; do trap : $what; done', same],
      ['(exit 4)', { exitCode: 4 }],
    ],
  },
  {
    name: 'echoes what the shell reads',
    steps: [
      ['set -v', same],
      ['echo once', { content: 'echo once\nonce' }],
      ['set +v', { exitCode: 0 }],
    ],
  },
  { name: 'reads nothing', steps: [['set -n', {}]] },
  { name: 'edits lines', steps: [['set -o vi', {}]] },
  { name: 'changes how words are split', steps: [['IFS=0; set -f; shopt -s nullglob failglob nocasematch', same]] },
  { name: 'makes the shell time out', steps: [['TMOUT=1', { exitCode: 0 }]] },
  { name: 'makes the terminal raw', steps: [['stty raw -echo', same]] },
  { name: 'makes the terminal small', steps: [['stty rows 2 cols 3', same]] },
  { name: 'limits memory', steps: [['ulimit -v 30000', same]] },
  { name: 'limits files', steps: [['ulimit -f 0', {}]] },
  {
    name: 'becomes another program',
    steps: [
      ['exec cat', { exitCode: -1 }],
      ['line', { content: 'line', exitCode: -1 }, 'input'],
      ['C-d', { exitCode: 0 }, 'input'],
    ],
  },
  {
    name: 'becomes another shell',
    steps: [
      ['exec sh', { exitCode: -1 }],
      ['echo "from $0"', { content: /from sh/, exitCode: -1 }, 'input'],
      ['exit 4', { exitCode: 4, suffix: /ended the shell/ }, 'input'],
    ],
  },
  {
    name: 'starts a login shell',
    steps: [
      ['bash --login', { exitCode: 0 }],
      ['echo inner', { content: 'inner' }],
      ['exit', { exitCode: 0 }],
    ],
  },
  {
    name: 'starts a login shell that takes its time',
    steps: [
      ["echo 'word=$(sleep 4; echo late)' > .bash_profile; HOME=$PWD bash --login", { exitCode: 0 }],
      ['echo "$word"', { content: 'late' }],
      ['exit', { exitCode: 0 }],
    ],
  },
  {
    name: 'records a shell on a terminal of its own',
    steps: [
      ['script -q /dev/null', { exitCode: -1 }],
      ['echo recorded', { content: /recorded/, exitCode: -1 }, 'input'],
      ['exit', { exitCode: 0 }, 'input'],
    ],
  },
  {
    name: 'leaves children that hold the terminal',
    steps: [
      ['sleep 300 & (trap "" HUP; exec setsid sleep 300) & cat /dev/tty & echo left', { exitCode: 0, content: /left/ }],
      ['kill -9 $(jobs -p); wait 2>/dev/null', {}],
    ],
  },
  {
    name: 'prints after its end',
    steps: [
      ['(until test -e go; do sleep 0.05; done; echo late) & echo early', { content: /early/ }],
      ['touch go; wait', { content: /late/ }],
    ],
  },
  {
    name: 'asks for a password',
    steps: [
      ['read -rs -p "Password: " word; echo; echo "${#word} characters"', { content: 'Password:', exitCode: -1 }],
      ['hunter2', { content: /^\s*7 characters$/, exitCode: 0 }, 'input'],
    ],
  },
  {
    name: 'prints half a character at a time',
    steps: [['for byte in 342 202 254; do printf "\\\\$byte"; sleep 0.05; done; echo', { content: '€' }]],
  },
  { name: 'prints a marker of another shell', steps: [["printf '\\e]133;D;0-1;0\\aseen\\n'", { ...same, content: 'seen' }]] },
];

/** Seconds for what ends: on a busy machine any command may be silent for a while. */
const PATIENT = 60;
/** One that cost its shell ends with an exit code that nobody knows. */
const ends = ({ exitCode, suffix }: ExpectedRun): boolean => exitCode !== -1 || suffix === BROKEN || suffix === NEVER_TAKEN;

it.concurrent.each(someOf(COMMANDS, 11))('RT45: a command that $name', async ({ steps }) => {
  const executor = await startExecutor({ limits: { noOutputTimeoutSeconds: 6 } });
  try {
    await executor.run('mkdir place; cd place; export STAYS=yes', {}, PATIENT);
    for (const [command, expected, input] of steps) {
      const seen = await executor.run(command, input ? { is_input: true } : {}, ends(expected) ? PATIENT : undefined);
      expect({ command, ...seen }).toMatchObject({ command, ...expectedRun(expected) });
    }
    const next = () => executor.run('builtin echo "next $STAYS"', {}, PATIENT);
    const first = await next();
    // The answer to one that a dying shell never took says that it was not executed; a shell's message about a job that has ended comes before or after.
    const answer = /run it again/.test(first.suffix) ? await next() : first;
    expect(answer).toMatchObject({ content: expect.stringMatching(/next yes$/m), exitCode: 0 });
    expect((await executor.run('(exit 7)', {}, PATIENT)).exitCode).toBe(7);
  } finally {
    await executor.kill();
  }
});
