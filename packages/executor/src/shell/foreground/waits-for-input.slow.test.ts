import { itInFull } from '@tendon/testing';
import { expect, it } from 'vitest';
import { expectedRun } from '../expected-run.test-support.ts';
import { startExecutor, type TestExecutor } from '../../testing/start-executor.ts';

const WAITS = /^\n\[The command prints nothing and waits for input\. You can send an empty command '' to wait for more output, .*\]$/;
const RUNS = /^\n\[The time of 5 seconds is over; the command is still running\. You can .*\]$/;
const NODE = 'const ask = require("readline").createInterface({ input: process.stdin, output: process.stdout });';
const PYTHON = 'python3 -q -c';

interface Asking {
  readonly name: string;
  readonly command: string;
  /** What it has printed by then. */
  readonly asks?: string | RegExp;
  /** What was typed, and what comes of it. */
  readonly answer?: readonly [typed: string, content: string];
}

/** Whatever waits for the keyboard, in whichever way. */
const ASKING: readonly Asking[] = [
  { name: 'read of a shell', command: 'read -r -p "go on? " a; echo "got $a"', asks: 'go on?', answer: ['yes', 'got yes'] },
  { name: 'cat without arguments', command: 'cat', asks: '', answer: ['C-d', ''] },
  { name: 'another shell', command: 'sh -c "read a; echo \\$a"', answer: ['word', 'word'] },
  { name: 'busybox', command: 'busybox sh -c "read a; echo \\$a"', answer: ['word', 'word'] },
  { name: 'input() of Python', command: `${PYTHON} 'print(input("name? "))'`, asks: 'name?', answer: ['Zoë', 'Zoë'] },
  { name: 'input() with line editing', command: `${PYTHON} 'import readline; print(input("name? "))'`, answer: ['Zoë', 'Zoë'] },
  { name: 'Python itself', command: 'python3 -q', asks: '>>>', answer: ['exit()', ''] },
  {
    name: 'a password',
    command: `${PYTHON} 'import getpass; print(len(getpass.getpass()))'`,
    asks: 'Password:',
    answer: ['hunter2', '\n7'],
  },
  {
    name: 'a question of Node',
    command: `node -e '${NODE} ask.question("ok? ", (a) => { console.log(a); ask.close(); })'`,
    answer: ['y', 'y'],
  },
  {
    name: 'a question beside a server and a timer',
    command: `node -e '${NODE} require("http").createServer().listen(0); setInterval(() => {}, 9e6); ask.question("ok? ", () => process.exit())'`,
    answer: ['y', ''],
  },
  {
    name: 'poll()',
    command: `${PYTHON} 'import select, sys; p = select.poll(); p.register(0, 1); p.poll(); print(input())'`,
    answer: ['p', 'p'],
  },
  {
    name: 'a thread',
    command: `${PYTHON} 'import threading; t = threading.Thread(target=lambda: print(input())); t.start(); t.join()'`,
    answer: ['t', 't'],
  },
  {
    name: 'an editor that git opens',
    command: 'rm -rf g; git init -q g; cd g; GIT_EDITOR=vim.tiny git -c user.name=a -c user.email=b commit --allow-empty',
    asks: /Please enter the commit message/,
  },
  { name: 'an editor that reads', command: 'nano -I text' },
  { name: 'the first of a pipe', command: 'cat | wc -l', asks: '', answer: ['C-d', '0'] },
  { name: 'the last of a pipe', command: 'echo piped | (read -r a; read -r b </dev/tty; echo "$a $b")', answer: ['typed', 'piped typed'] },
  { name: 'a question of npm', command: 'mkdir -p n; cd n; npm init' },
  { name: 'a confirmation', command: 'touch f; rm -i f', asks: /^rm: remove .*\?$/, answer: ['y', ''] },
];

/** Whatever is silent for another reason. */
const SILENT: readonly { readonly name: string; readonly command: string }[] = [
  { name: 'sleep', command: 'sleep 300' },
  { name: 'a pipe that stays empty', command: 'sleep 300 | cat' },
  { name: 'a file that stays empty', command: 'rm -f fifo; mkfifo fifo; cat fifo' },
  { name: 'a file that may grow', command: 'touch log; tail -f log' },
  { name: 'work', command: 'while :; do :; done' },
  { name: 'a server that takes keys', command: `node -e '${NODE} require("http").createServer().listen(0); console.log("press h")'` },
  { name: 'a child that works', command: `${PYTHON} 'import subprocess; subprocess.run(["sleep", "300"])'` },
  {
    name: 'work beside a thread that reads',
    command: `${PYTHON} 'import threading; threading.Thread(target=input).start()\nwhile True: pass'`,
  },
];

const PER_EXECUTOR = 8;

/** Each in a session of its own, all at once: what takes time is to wait. */
async function allAtOnce<Case, Seen>(
  cases: readonly Case[],
  seen: (run: RunInSession, one: Case) => Promise<Seen>,
): Promise<readonly Seen[]> {
  // The soft timeout is far away: what is handed back early is handed back for waiting.
  const count = Math.ceil(cases.length / PER_EXECUTOR);
  const executors = await Promise.all(Array.from({ length: count }, () => startExecutor({ limits: { noOutputTimeoutSeconds: 600 } })));
  try {
    return await Promise.all(
      cases.map((one, index) =>
        seen((command, args, timeout) => executors[index % count]!.run(command, { session: `s${index}`, ...args }, timeout), one),
      ),
    );
  } finally {
    await Promise.all(executors.map((executor) => executor.kill()));
  }
}

type RunInSession = TestExecutor['run'];

it('RT35: what waits for input is handed back early and takes its answer', async () => {
  const seen = await allAtOnce(ASKING, async (run, { name, command, answer }) => {
    const { content, exitCode, suffix, workingDir } = await run(command);
    const after = answer && (await run(answer[0], { is_input: true }));
    return { name, content, exitCode, suffix, workingDir, ...(after && { answer: after.content, ended: after.exitCode }) };
  });
  const expected = ({ name, asks = /(?:)/, answer }: Asking) => ({
    name,
    ...expectedRun({ content: asks, exitCode: -1, suffix: WAITS, workingDir: null }),
    ...(answer && { answer: answer[1], ended: 0 }),
  });
  expect(seen).toEqual(ASKING.map(expected));
});

itInFull('RT35: a program that asks again after each answer waits again', async () => {
  const [seen] = await allAtOnce(['python3 -q'], async (run, command) => {
    await run(command);
    return [await run('6 * 7', { is_input: true }), await run('exit()', { is_input: true })];
  });
  expect(seen).toMatchObject([
    { content: '42\n>>>', exitCode: -1, suffix: expect.stringMatching(WAITS) },
    { content: '', exitCode: 0 },
  ]);
});

itInFull('RT35, RT39: an editor that git opens is worked with keys and text', async () => {
  const [contents] = await allAtOnce([ASKING.find(({ name }) => name === 'an editor that git opens')!], async (run, { command }) => {
    await run(command);
    const shown: string[] = [];
    for (const typed of ['ithe message', 'Escape', ':wq']) shown.push((await run(typed, { is_input: true })).content);
    return [...shown.slice(0, 2), (await run('git log --format=%s')).content];
  });
  expect(contents).toEqual([expect.stringMatching(/^the message\n/), expect.stringMatching(/^the message\n/), 'the message']);
});

it('RT35: what is silent for another reason is not reported as waiting for input', async () => {
  const seen = await allAtOnce(SILENT, async (run, { name, command }) => ({ name, suffix: (await run(command, {}, 5)).suffix }));
  expect(seen).toEqual(SILENT.map(({ name }) => ({ name, suffix: expect.stringMatching(RUNS) })));
});

it('RT35: a command that has a timeout keeps it, and is then reported as waiting for input', async () => {
  const [suffix] = await allAtOnce(['read -r a'], async (run, command) => (await run(command, {}, 4)).suffix);
  expect(suffix).toMatch(/^\n\[The time of 4 seconds is over; the command is still running and waits for input\. /);
});
