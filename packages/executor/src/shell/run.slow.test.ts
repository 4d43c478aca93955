import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { expectedRun, type ExpectedRun } from './expected-run.test-support.ts';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

let executor: TestExecutor;
beforeAll(async () => void (executor = await startExecutor({ limits: { noOutputTimeoutSeconds: 1 } })));
afterAll(() => executor.kill());

/** Seconds for what ends: on a busy machine any command may be silent for a second. */
const PATIENT = 60;
const ended = (command: string, args: Record<string, unknown> = {}) => executor.run(command, args, PATIENT);

type Step = readonly [command: string, expected: ExpectedRun | RegExp | string, how?: 'input' | 'static'];

/** What the model is shown beside the output of a command that runs on. */
const hint = (words: string): RegExp =>
  new RegExp(String.raw`^\n\[${words} You can send an empty command '' to wait for more output, .*C-c.*\]$`);
const SILENT = hint('Nothing new was printed for 1 seconds; the command is still running.');
const PREVIOUS = '[New output of the command that was still running:]\n';
const ENDED = (exitCode: number): string => `\n[The command ended with exit code ${exitCode}.]`;
const NOT_EXECUTED = hint('Not executed: "echo refused". An earlier command is still running, and only one can run at a time.');
const INTERRUPTED = '\n[Interrupted by C-c: the command ended with exit code 130.]';
const REPLACED = (exitCode: number): string =>
  `\n[The command ended with exit code ${exitCode}. It ended the shell; a new one was started in the same folder with the same exported variables.]`;

/** Steps of one session, in order: what was sent and what is expected of the answer; a text is the whole content. */
const SESSIONS: readonly { readonly rule: string; readonly steps: readonly Step[] }[] = [
  {
    rule: 'RT20: folder, variables, functions, aliases, arrays and options stay',
    steps: [
      [
        'mkdir -p sub && cd sub; export A=1; b=2; f() { echo "f$1$A$b"; }; alias al="echo aliased"; declare -A m=([k]=v); set -o noglob',
        '',
      ],
      [
        'f x; al; echo "${m[k]}"; echo *; basename "$PWD"',
        { content: 'fx12\naliased\nv\n*\nsub', exitCode: 0, workingDir: /\/sub$/, suffix: ENDED(0) },
      ],
      ['set +o noglob; cd ..', { exitCode: 0 }],
    ],
  },
  {
    rule: 'RT20: `$?` is that of the command before',
    steps: [
      ['(exit 7)', { content: '', exitCode: 7, suffix: ENDED(7) }],
      ['echo $?', '7'],
    ],
  },
  {
    rule: 'RT21: several lines are one script with the exit code of the last',
    steps: [['echo one\necho two\n(exit 3)', { content: 'one\ntwo', exitCode: 3 }]],
  },
  {
    rule: 'RT21: heredocs, functions, loops, continuations and quoted newlines',
    steps: [
      ["cat <<'EOF'\n$HOME `x` \\\nEOF\nfor i in 1 2; do\n  echo $i\ndone\necho a \\\n b\necho 'q\nr'", '$HOME `x` \\\n1\n2\na b\nq\nr'],
      ['# only a comment', ''],
      ['echo "a!b" !! # history is not expanded', 'a!b !!'],
      ["printf 'tab\\there\\n'; echo zeile äöü 漢字 🙂", 'tab\there\nzeile äöü 漢字 🙂'],
    ],
  },
  {
    rule: 'RT21: an incomplete command is an error and not a prompt',
    steps: [
      ['if true', { content: /syntax error/, exitCode: 2 }],
      ['echo fine', 'fine'],
      ["echo 'open quote", { content: /unexpected EOF/, exitCode: 2 }],
      ['echo fine', 'fine'],
      ['echo "$(( `', { content: /unexpected EOF/, exitCode: 2 }],
      ['echo fine', 'fine'],
    ],
  },
  {
    rule: 'RT22: colours are taken out and progress collapses',
    steps: [
      ["printf '\\e[31mred\\e[0m \\e]0;title\\a\\e[1;32mgreen\\e[m\\n'", 'red green'],
      [
        "printf '10%%\\r50%%\\r100%%\\n'; printf 'abc\\rX\\n'; printf 'long line\\r\\e[Kshort\\n'; printf 'ab\\bc\\n'",
        '100%\nXbc\nshort\nac',
      ],
      ["printf '  indented\\n\\nlast\\n\\n'", '  indented\n\nlast'],
    ],
  },
  {
    rule: 'RT23: background children that hold the terminal do not hang it',
    steps: [
      ['sleep 300 & echo started', /started$/],
      ['(trap "" HUP; sleep 300) & disown; echo next', /next$/],
      ['nohup sleep 300 >/dev/null 2>&1 & echo left', /left$/],
      ['kill -9 $(jobs -p); wait; echo gone', /gone$/],
    ],
  },
  {
    rule: 'RT24: redirected shell, own prompts and options do not break the framing',
    steps: [
      ['exec >redirected.txt 2>&1; echo hidden', ''],
      ['(exit 5)', { content: '', exitCode: 5 }],
      ['exec >/dev/tty 2>&1; cat redirected.txt', 'hidden'],
      ['PS1="$ "; PS2="more "; PROMPT_COMMAND="echo prompt"', ''],
      ['echo quiet', 'quiet'],
      ['PROMPT_COMMAND=("echo a" "echo b;")', ''],
      ['echo quiet', 'quiet'],
      ['unset PROMPT_COMMAND; set -u', ''],
      ['echo "$undefined_variable"', { exitCode: 1 }],
      ['set +u; set -x', ''],
      ['echo traced', /echo traced\ntraced$/],
      ['set +x', { exitCode: 0 }],
      ['set -o pipefail; false | true', { exitCode: 1 }],
      ['set +o pipefail; trap "echo debugged" USR1; kill -USR1 $$; trap - USR1', 'debugged'],
    ],
  },
  {
    rule: 'RT24: input that a command left unread is no command',
    steps: [
      ['until test -e ~/unread; do sleep 0.05; done', { exitCode: -1 }],
      ['echo typed ahead', { exitCode: -1, content: '' }, 'input'],
      ['touch ~/unread', '', 'static'],
      ['', { exitCode: 0, content: '' }],
      ['rm ~/unread; echo clean', 'clean'],
    ],
  },
  {
    rule: 'RT25: a shell that ends is replaced, with what it had',
    steps: [
      ['export STAYS=yes; g() { echo "g $STAYS"; }; cd /tmp', ''],
      ['exit 3', { content: /^(?:exit)?$/, exitCode: 3, suffix: REPLACED(3) }],
      ['g; pwd', 'g yes\n/tmp'],
      ['set -e\nfalse\necho never', { content: '', exitCode: 1, suffix: REPLACED(1) }],
      ['g; case $- in *e*) echo errexit;; esac', 'g yes'],
      ['kill -9 $$', { exitCode: 137, suffix: REPLACED(137) }],
      ['echo $STAYS; pwd', 'yes\n/tmp'],
      ['exec sh -c "exit 4"', { exitCode: 4, suffix: REPLACED(4) }],
      ['echo $STAYS', 'yes'],
      ['trap "echo bye" EXIT; exit 6', { content: /bye$/, exitCode: 6, suffix: REPLACED(6) }],
      ['echo $STAYS; cd "$HOME"', 'yes'],
    ],
  },
  {
    rule: 'RT26, RT27, RT28: a silent command is handed back, and can be waited for and interrupted',
    steps: [
      ['echo early; sleep 300', { content: 'early', exitCode: -1, workingDir: null, suffix: SILENT }],
      ['echo refused', { exitCode: -1, content: '', prefix: PREVIOUS, suffix: NOT_EXECUTED }],
      ['', { exitCode: -1, prefix: PREVIOUS, suffix: SILENT }, 'input'],
      ['C-c', { content: '^C', exitCode: 130, suffix: INTERRUPTED }, 'input'],
      ['echo free', 'free'],
    ],
  },
  {
    rule: 'RT27: what the command has printed meanwhile comes with the refusal',
    steps: [
      ['until test -e ~/go; do sleep 0.05; done; echo more; touch ~/went; sleep 300', { content: '', exitCode: -1 }],
      ['touch ~/go; until test -e ~/went; do sleep 0.05; done; rm ~/go ~/went', '', 'static'],
      ['echo refused', { content: 'more', exitCode: -1, prefix: PREVIOUS, suffix: NOT_EXECUTED }],
      ['C-c', { content: '^C', exitCode: 130 }, 'input'],
    ],
  },
  {
    rule: 'RT34: a shell inside the shell takes the commands, and gives them back when it ends',
    steps: [
      ['outer=1; cd "$HOME"; bash --norc', { content: '', exitCode: 0 }],
      ['echo "inner $outer"; mkdir -p in; cd in; (exit 3)', { content: 'inner', exitCode: 3, workingDir: /\/in$/ }],
      ['sleep 300', { exitCode: -1 }],
      ['C-c', { content: '^C', exitCode: 130 }, 'input'],
      ['exit 5', { content: 'exit', exitCode: 5 }],
      ['echo "outer $outer $?"; basename "$PWD"', { content: /^outer 1 5\nworkspace$/ }],
      ['bash --norc -i', { exitCode: 0 }],
      ['kill -9 $$', { exitCode: 137 }],
      ['echo "outer $outer"', 'outer 1'],
    ],
  },
  {
    rule: 'RT34: a shell in place of the shell takes the commands',
    steps: [
      ['export STAYS=1; exec bash', { exitCode: 0 }],
      ['echo "new $STAYS"; (exit 3)', { content: 'new 1', exitCode: 3 }],
      ['exit 5', { exitCode: 5 }],
      ['echo "again $STAYS"', 'again 1'],
    ],
  },
  {
    rule: 'RT28: prompts are answered, without the echo of the answer',
    steps: [
      ['read -r -p "name? " name; echo "hi $name"', { content: 'name?', exitCode: -1 }],
      ['Zoë', { content: 'hi Zoë', exitCode: 0 }, 'input'],
      ['touch victim; chmod 400 victim; rm -i victim', { exitCode: -1 }],
      ['y', { exitCode: 0 }, 'input'],
      ['test -e victim', { exitCode: 1 }],
    ],
  },
  {
    rule: 'RT28: end of input and stop are keys too',
    steps: [
      ['cat', { exitCode: -1 }],
      ['line', { content: 'line', exitCode: -1 }, 'input'],
      ['C-d', { content: '', exitCode: 0 }, 'input'],
      ['sleep 300', { exitCode: -1 }],
      ['C-z', { content: /^\^Z\n\[1\]\+ +Stopped +sleep 300$/, exitCode: 148 }, 'input'],
      ['kill -9 %%; disown %%', { exitCode: 0 }], // or the shell reports its end whenever it learns of it
    ],
  },
  {
    rule: 'RT230: a program that reads keys is sent the Enter of a keyboard, a shell that reads a line a line',
    steps: [
      ['as_it_was=$(stty -g); stty raw -echo; head -c 3 | od -An -c; stty "$as_it_was"', { content: '', exitCode: -1 }],
      ['ab', { content: String.raw`   a   b  \r`, exitCode: 0 }, 'input'],
      ['stty -icrnl -echo; IFS= read -r line; stty "$as_it_was"; printf "<%q>" "$line"', { content: '', exitCode: -1 }],
      ['a b', { content: String.raw`<a\ b>`, exitCode: 0 }, 'input'],
    ],
  },
  {
    rule: 'RT28: with nothing running input is an error',
    steps: [
      ['C-c', { content: 'ERROR: No command is running that could take input.', exitCode: -1 }, 'input'],
      ['', { content: 'ERROR: No command is running, and everything it printed has been shown.', exitCode: -1 }],
    ],
  },
  {
    rule: 'RT29: what a command printed after its answer is given with the next',
    steps: [
      ['sleep 4; echo late', { exitCode: -1 }],
      ['', { content: 'late', exitCode: 0 }],
      ['(until test -e ~/go; do sleep 0.05; done; echo between; touch ~/seen) &', { exitCode: 0 }],
      ['touch "$HOME/go"; until test -e "$HOME/seen"; do sleep 0.05; done', '', 'static'],
      ['wait; echo then', /between\n(.*\n)*then$/],
    ],
  },
  {
    rule: 'RT30: binary output and control characters do no harm',
    steps: [
      ['head -c 200000 /dev/urandom', { exitCode: 0 }],
      ["printf 'a\\0b\\x01c\\xff\\xfe\\n'", 'abc\ufffd\ufffd'],
      ["printf '\\e[?1049h\\e[2J\\e[5;5Hfull screen\\e[?1049l'; stty sane; echo back", /back$/],
      ['echo still', 'still'],
    ],
  },
  {
    rule: 'RT32: the terminal is wide and nothing pages',
    steps: [
      ['tput cols 2>/dev/null || stty size | cut -d" " -f2', '1000'],
      ['echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $DEBIAN_FRONTEND', 'cat cat 0 noninteractive'],
      ['env | grep -c __tendon', '0'],
    ],
  },
];

describe('run', () => {
  it.each(SESSIONS)('$rule', async ({ steps }) => {
    for (const [command, expected, how] of steps) {
      const parts = partsOf(expected);
      const seen = await executor.run(
        command,
        { is_input: how === 'input', is_static: how === 'static' },
        parts.exitCode === -1 ? undefined : PATIENT,
      );
      expect({ command, ...seen }).toMatchObject({ command, ...expectedRun(parts) });
    }
  });

  it.each([
    { where: 'in the session', args: {}, own: ['0', '1', '2', '250'] },
    { where: 'beside it', args: { is_static: true }, own: ['0', '1', '2'] },
  ])('RT36: of the descriptors of the executor a command $where has none', async ({ args, own }) => {
    // The last one is the folder that `ls` reads.
    const { content } = await ended('ls /proc/self/fd | cat; echo error >&2', args);
    expect(content.split('\n').toSorted()).toEqual([...own, '3', 'error'].toSorted());
  });

  it('RT37: line ends leave the terminal as they are written, and a command that changes that changes nothing else', async () => {
    const fresh = await startExecutor({ limits: { noOutputTimeoutSeconds: 1 } });
    try {
      expect(await fresh.run('stty -a </dev/tty | grep -o -- -opost', {}, PATIENT)).toMatchObject({ content: '-opost', exitCode: 0 });
      for (const mode of ['sane', '-opost']) {
        expect(await fresh.run(`stty ${mode}; printf "a\\nb\\n"`, {}, PATIENT)).toMatchObject({ content: 'a\nb', exitCode: 0 });
        expect((await fresh.run('read -r word; echo "<$word>"')).exitCode).toBe(-1);
        expect(await fresh.run('text', { is_input: true }, PATIENT)).toMatchObject({ content: '<text>', exitCode: 0 });
      }
    } finally {
      await fresh.kill();
    }
  });

  it('RT231: what a shell says before its first prompt is in no output', async () => {
    const fresh = await startExecutor({}, { LC_ALL: 'no_NO.such' });
    try {
      expect(await fresh.run('echo first')).toMatchObject({ content: 'first', exitCode: 0 });
      await fresh.run('exit 3');
      expect(await fresh.run('echo next')).toMatchObject({ content: 'next', exitCode: 0 });
    } finally {
      await fresh.kill();
    }
  });

  it('RT21: a heredoc of 100 KB', async () => {
    const lines = Array.from({ length: 2000 }, (_, index) => `line ${index} ${'x'.repeat(40)} $NOT 'quoted'`);
    const { content, exitCode } = await ended(`cat > big.txt <<'END'\n${lines.join('\n')}\nEND\nwc -l < big.txt; md5sum < big.txt`);
    expect(exitCode).toBe(0);
    expect(content.split('\n')[0]).toBe('2000');
  });

  it('RT29: long output keeps both ends', async () => {
    const { content } = await ended('seq 1 100000');
    expect(content.length).toBeLessThan(30_200);
    expect(content).toMatch(
      /^1\n2\n[^]*\n\[\.\.\. Observation truncated due to length: \d+ characters left out; the output is stored in \/\S+\/\.cache\/tendon\/output\/\S+\.txt \.\.\.\]\n[^]*\n99999\n100000$/,
    );
  });

  it.each([{ is_static: false }, { is_static: true }])('RT46: of a long output the whole is in a file that it names (%j)', async (args) => {
    // A job that has ended is reported once, and not as an empty line after every command from then on.
    await ended('stty -opost; true & wait');
    const { content } = await ended('for i in {1..3}; do seq 1 30000; done; head -c 1000 /dev/zero', args);
    const path = /stored in (\/.*\.txt) \.\.\./.exec(content)?.[1];
    const same = await ended(`{ for i in {1..3}; do seq 1 30000; done; head -c 1000 /dev/zero; } | cmp - ${path} && echo same`);
    expect(same.content).toBe('same');
  });

  it.each([{ is_static: false }, { is_static: true }])('RT46: bytes that are no text are in it as they were printed (%j)', async (args) => {
    await ended('stty -opost; head -c 3000000 /dev/urandom > noise');
    const { content } = await ended('cat noise', args);
    const [, path] = /stored in (\/.*\.txt) \.\.\./.exec(content) ?? [];
    expect(content.length).toBeLessThanOrEqual(30_000);
    expect(await ended(`cmp noise ${path} && echo same; rm noise`)).toMatchObject({ content: 'same', exitCode: 0 });
  });

  it('RT222: how much is shown and stored is configured', async () => {
    const small = await startExecutor({ limits: { output: { chars: 1500, fileBytes: 100_000, folderBytes: 250_000 } } });
    try {
      const { content } = await small.run('seq 1 1000');
      expect(content).toMatch(/^1\n2\n[^]*; the output is stored in \S+ \.\.\.\]\n[^]*\n1000$/);
      expect(content.length).toBeLessThanOrEqual(1500);
      const path = /stored in (\S+)/.exec(content)![1]!;
      expect(await small.run(`seq 1 1000 | cmp - ${path} && echo same`)).toMatchObject({ content: 'same' });
      for (let n = 0; n < 4; n += 1) await small.run('yes | head -c 300000', n === 3 ? { is_static: true } : {});
      const { content: sizes } = await small.run(`stat -c %s $(dirname ${path})/*`);
      expect(sizes.split('\n').every((size) => Number(size) <= 100_000)).toBe(true);
      expect(sizes.split('\n').reduce((sum, size) => sum + Number(size), 0)).toBeLessThanOrEqual(250_000);
    } finally {
      await small.kill();
    }
  });

  it('RT26: a timeout hands the command back and names itself', async () => {
    const seen = await executor.run('sleep 300', {}, 1.5);
    expect(seen).toMatchObject({ exitCode: -1 });
    expect(seen.suffix).toMatch(hint('The time of 1.5 seconds is over; the command is still running.'));
    expect(await ended('C-c', { is_input: true })).toMatchObject({ exitCode: 130 });
  });

  it('RT26: with a timeout the command may be silent', async () => {
    expect(await executor.run('sleep 1.4; echo done', {}, 20)).toMatchObject({ content: 'done', exitCode: 0 });
  });

  it('RT33: metadata', async () => {
    const { extras } = await ended('cd /; true');
    expect(extras).toMatchObject({
      command: 'cd /; true',
      hidden: false,
      metadata: {
        ...{ exit_code: 0, working_dir: '/', prefix: '', suffix: ENDED(0) },
        username: expect.stringMatching(/./),
        hostname: expect.stringMatching(/./),
        py_interpreter_path: expect.stringMatching(/python/),
      },
    });
    expect(await ended('cd "$HOME"; echo unseen', { hidden: true })).toMatchObject({ content: 'unseen', extras: { hidden: true } });
    const background = await ended('sleep 300 & echo "pid $!"');
    expect(`pid ${(background.extras.metadata as { pid: number }).pid}`).toBe(background.content.split('\n').at(-1));
    await ended('kill -9 %%; wait 2>/dev/null');
  });

  itInFull('RT26: `blocking` stops the clock of silence', async () => {
    expect(await executor.run('sleep 2.5; echo done', { blocking: true })).toMatchObject({ content: 'done', exitCode: 0 });
  });

  it('RT31: a static command that does not end in time is killed with what it printed, and the session goes on meanwhile', async () => {
    expect(await executor.run('sleep 300')).toMatchObject({ exitCode: -1 });
    expect(await executor.run('echo begun; sleep 300 & sleep 300', { is_static: true }, 3)).toMatchObject({
      ...{ content: 'begun', exitCode: -1, suffix: '\n[The command was killed: it did not end within 3 seconds.]' },
    });
    expect(await ended('C-c', { is_input: true })).toMatchObject({ content: '^C', exitCode: 130 });
  });

  it('RT221: live output has colours and offsets, the content has neither', async () => {
    const command = "for n in 1 2 3; do printf '\\e[3%dmäö\\e[0m\\n' $n; sleep 0.1; done";
    const lines = await executor.lines({ action: { action: 'run', args: { command } } });
    const live = lines.flatMap((line) => (line.type === 'output' ? [line] : []));
    expect(live.map(({ text }) => text).join('')).toBe('\u001b[31mäö\u001b[0m\n\u001b[32mäö\u001b[0m\n\u001b[33mäö\u001b[0m\n');
    let offset = 0;
    for (const frame of live) {
      expect(frame.offset).toBe(offset);
      offset += Buffer.byteLength(frame.text);
    }
    expect(lines.at(-1)).toMatchObject({ type: 'outcome', observation: { content: 'äö\näö\näö' } });
  });
});

/** A text or pattern is about the whole content. */
function partsOf(expected: Step[1]): ExpectedRun {
  return typeof expected === 'string' || expected instanceof RegExp ? { content: expected } : expected;
}
