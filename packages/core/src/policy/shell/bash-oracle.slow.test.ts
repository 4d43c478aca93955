import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readCommandLine, type Program } from './read-command-line.ts';

/**
 * Runs the script with no program to be found: bash writes down what it would have run, word by word. Loops end with the process group, of
 * which this bash is the first, or with their second of processor time.
 */
const RUN = `
ulimit -t 1
FUNCNEST=20
command_not_found_handle() { (( SECONDS < 3 )) || kill -9 0; printf '%s\\0' "$#" "$@" >>"ran/$BASHPID"; return 1; }
( eval "$(<script)"; wait ) </dev/null >/dev/null 2>&1`;

function runInBash(script: string): readonly (readonly string[])[] {
  const folder = mkdtempSync(join(tmpdir(), 'bash-oracle-'));
  try {
    writeFileSync(join(folder, 'script'), script);
    mkdirSync(join(folder, 'ran'));
    const options = { cwd: folder, env: { PATH: '/nonexistent' }, stdio: 'ignore', detached: true } as const;
    const { pid } = spawnSync('/bin/bash', ['--norc', '--noprofile', '-c', RUN], options);
    endGroup(pid);
    // A file for each process: what two of them write at once would mix.
    return readdirSync(join(folder, 'ran')).flatMap((name) => callsIn(readFileSync(join(folder, 'ran', name), 'utf8')));
  } finally {
    rmSync(folder, { recursive: true, maxRetries: 10 });
  }
}

/** What a background command of a background command left running. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

function callsIn(text: string): string[][] {
  const words = text.split('\0').slice(0, -1);
  const calls: string[][] = [];
  for (let at = 0; at < words.length; at += 1 + Number(words[at])) calls.push(words.slice(at + 1, at + 1 + Number(words[at])));
  return calls;
}

function isSame({ name, args }: Program, call: readonly string[]): boolean {
  return args.every(({ known }) => known !== 'unknown') && [name, ...args.map(({ text }) => text)].join('\0') === call.join('\0');
}

const word = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.constantFrom('pa', 'pb', '-x', "'a b'", '"c d"', 'e\\ f', "$'g\\x68'", '"i"\'j\'k', 'l#m', '""', 'n=o', '"p\\"q"'),
  },
  { weight: 1, arbitrary: fc.constantFrom('$HOME', '${u:-v}', '*', '~', '{a,b}', '"$0"', '!', '$((1+1))') },
);

const { script } = fc.letrec<{ script: string; command: string; simple: string }>((tie) => ({
  simple: fc
    .tuple(
      fc.constantFrom('', '', '', '', 'x=1 ', '! '),
      fc.constantFrom('pa', 'pb', "p'c'", 'p\\d', '"pe"', 'p\\\nf'),
      fc.array(word, { maxLength: 3 }),
      fc.constantFrom('', '', '', ' >/dev/null', ' 2>&1', ' <<E\nh $(pg)\nE\n', " <<'E'\n$(ph)\nE\n", ' <<< pi'),
    )
    .map(([lead, name, args, redirect]) => `${lead}${[name, ...args].join(' ')}${redirect}`),
  command: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('simple'),
    tie('script').map((inner) => `( ${inner}\n)`),
    tie('script').map((inner) => `{ ${inner}\n}`),
    tie('script').map((inner) => `echo "$(${inner}\n)"`),
    tie('script').map((inner) => `pj <(${inner}\n)`),
    fc.tuple(tie('script'), tie('script'), tie('script')).map(([a, b, c]) => `if ${a}\nthen ${b}\nelse ${c}\nfi`),
    tie('script').map((inner) => `for i in 1 2; do ${inner}\ndone`),
    fc.tuple(tie('script'), tie('script')).map(([a, b]) => `while ${a}\ndo ${b}\nbreak\ndone`),
    tie('script').map((inner) => `case $u in pk|'') ${inner}\n;; *) pl;; esac`),
    tie('script').map((inner) => `eval '${inner.replaceAll("'", `'\\''`)}'`),
    fc.tuple(tie('script'), tie('script')).map(([a, b]) => `[[ -n "$(${a}\n)" ]] || ${b}`),
  ),
  script: fc
    .tuple(
      tie('command'),
      fc.array(fc.tuple(fc.constantFrom('\n', '; ', ' && ', ' || ', ' | ', ' |& ', ' & '), tie('command')), { maxLength: 2 }),
    )
    .map(([first, rest]) => rest.reduce((at, [operator, next]) => `${at}${at.endsWith('\n') ? '\n' : operator}${next}`, first)),
}));

/** A few characters put in anywhere: most of it bash refuses, the rest is what nobody thought of. */
const TOKENS = [
  "'",
  '"',
  '\\',
  '$(',
  ')',
  '`',
  ';',
  '&',
  '|',
  '\n',
  ' ',
  '#',
  '{',
  '}',
  '(',
  '<',
  '$x',
  "$'",
  '\\\n',
  '!',
  '<<E',
  '\nE\n',
  ';;',
  '&&',
  '>',
  '=',
  '[[ ',
  ' ]]',
  '${',
  '~',
  '*',
];
const mutated = fc
  .tuple(script, fc.array(fc.tuple(fc.nat(), fc.constantFrom(...TOKENS)), { maxLength: 2 }))
  .map(([text, inserts]) =>
    inserts.reduce((at, [place, token]) => at.slice(0, place % (at.length + 1)) + token + at.slice(place % (at.length + 1)), text),
  );

/** Lines that are listed without doubts and of which bash runs a program; of the others nothing can be judged. */
const JUDGED = 40;

it('TR704: of a line without doubts every program that bash runs is listed, with its words', () => {
  const check = (text: string): void => {
    const { doubts, programs } = readCommandLine(text);
    fc.pre(doubts.length === 0);
    const ran = runInBash(text);
    expect(ran.filter((call) => !programs.some((program) => isSame(program, call)))).toEqual([]);
    fc.pre(ran.length > 0);
  };
  fc.assert(fc.property(mutated, check), { numRuns: JUDGED });
});
