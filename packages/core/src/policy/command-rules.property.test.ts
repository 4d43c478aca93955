import { anyCharacter, runs } from '@tendon/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ALLOWED, ASKED, DENIED, FOLDER, RULES } from './commands.test-support.ts';
import { judgeCommand } from './judge-command.ts';
import { parseShell } from './shell/parse-shell.ts';

const decide = (command: string): string => judgeCommand(command, RULES, FOLDER).decision;

/** One character, written in one of the ways that mean the same. */
const WAYS: readonly ((char: string) => string)[] = [
  (char) => char,
  (char) => `'${char}'`,
  (char) => `"${char}"`,
  (char) => `\\${char}`,
  (char) => `$'${char}'`,
  (char) => `$'\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}'`,
  (char) => `$'\\${char.charCodeAt(0).toString(8).padStart(3, '0')}'`,
  (char) => `''${char}""`,
  (char) => `\\\n${char}`,
];

const SAFE = /^[a-z./-]+$/;
const written = (word: string) =>
  SAFE.test(word)
    ? fc
        .array(fc.nat(WAYS.length - 1), { minLength: word.length, maxLength: word.length })
        .map((ways) => [...word].map((char, index) => WAYS[ways[index]!]!(char)).join(''))
    : fc.constant(word);
const line = (words: readonly string[]) => fc.tuple(...words.map(written)).map((parts) => parts.join(' '));

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** Around a command, so that it still runs. */
const AROUND: readonly ((inner: string) => string)[] = [
  (inner) => `ls; ${inner}`,
  (inner) => `ls | ${inner}`,
  (inner) => `true && ${inner} || ls`,
  (inner) => `(${inner}\n)`,
  (inner) => `{ ${inner}\n}`,
  (inner) => `echo $(${inner}\n)`,
  (inner) => `echo "$(${inner}\n)"`,
  (inner) => `if true; then ${inner}\nfi`,
  (inner) => `while ${inner}\ndo ls; done`,
  (inner) => `for i in a; do ${inner}\ndone`,
  (inner) => `case a in a) ${inner}\nesac`,
  (inner) => `bash -c ${quoted(inner)}`,
  (inner) => `eval ${quoted(inner)}`,
  (inner) => `cat <(${inner}\n)`,
  (inner) => `nice timeout 5 ${/^[^'"\\$`(){}]*$/.test(inner) ? inner : `bash -c ${quoted(inner)}`}`,
];
const wrapped = (inner: fc.Arbitrary<string>) =>
  fc
    .tuple(inner, fc.array(fc.constantFrom(...AROUND), { maxLength: 4 }))
    .map(([text, around]) => around.reduce((at, wrap) => wrap(at), text));

const FORBIDDEN = [
  ['rm', 'a'],
  ['rm', '-rf', '/'],
  ['git', 'push'],
  ['git', '-C', 'src', 'push'],
  ['sudo', 'ls'],
  ['cat', '.env'],
  ['cat', '/etc/shadow'],
  ['env', 'rm', 'a'],
];

it('TR701: a denied command is not allowed in any spelling, wherever it stands', () => {
  const commands = wrapped(fc.constantFrom(...FORBIDDEN).chain(line));
  fc.assert(
    fc.property(commands, (command) => {
      expect(decide(command)).not.toBe('allow');
      expect(decide(command)).not.toBe('open');
    }),
    { numRuns: runs(4_000, 200) },
  );
});

it('TR700: an allowed command within something unknown asks', () => {
  const unknown = fc.stringMatching(/^[a-z]{3,8}$/).map((name) => `unknown${name}`);
  const option = fc.constantFrom('', '-x', '--', '--flag=1', '-c', '"$x"');
  const plain = fc.constantFrom(...ALLOWED.filter((command) => /^[a-z][a-z .-]+$/.test(command)));
  const commands = wrapped(fc.tuple(unknown, option, plain).map(([name, flag, command]) => `${name} ${flag} ${command}`));
  fc.assert(
    fc.property(commands, (command) => {
      expect(['ask', 'open']).toContain(decide(command));
    }),
    { numRuns: runs(3_000, 150) },
  );
});

it('TR700: what is joined to an allowed line is judged with it', () => {
  const joined = fc.tuple(
    fc.constantFrom(...ALLOWED),
    fc.constantFrom('\n', '; ', ' && ', ' | ', ' & '),
    fc.constantFrom(...DENIED, ...ASKED),
  );
  fc.assert(
    fc.property(joined, ([first, operator, second]) => {
      // A comment takes the rest of its line with it, and the end of a heredoc stands alone in its line.
      fc.pre(!/#|<<-?['"]?E/.test(first) || operator === '\n');
      expect(decide(`${first}${operator}${second}`)).not.toBe('allow');
    }),
    { numRuns: runs(5_000, 250) },
  );
});

it('TR703: any text is read or refused, in bounded depth and number', () => {
  const token = fc.constantFrom(
    ...'\'"\\$`(){}[]<>|&;!#~*?=\n \t'.split(''),
    ...[
      '$(',
      '${',
      '$((',
      '<<E',
      '\nE\n',
      '<(',
      'if ',
      'then ',
      'fi',
      'case x in ',
      'esac',
      ';;',
      'f()',
      '[[ ',
      ' ]]',
      'for x in ',
      'do ',
      'done',
      "$'",
      '\\x',
      '\u0000',
      'é',
      '\ud83d',
    ],
  );
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 200 }),
    fc.array(fc.oneof(token, fc.constantFrom('ls', 'rm', 'x=1', '2')), { maxLength: 60 }).map((parts) => parts.join('')),
    fc.tuple(token, fc.integer({ min: 1, max: 2000 })).map(([part, times]) => part.repeat(times)),
  );
  fc.assert(
    fc.property(text, (given) => {
      const parsed = parseShell(given);
      expect(parsed.ok ? parsed.script.commands.length : 0).toBeLessThanOrEqual(1000);
      expect(judgeCommand(given, RULES, undefined).decision).toMatch(/^(?:allow|ask|deny|open)$/);
    }),
    { numRuns: runs(1_000) },
  );
});

it('TR703: long and deep lines are refused', () => {
  for (const part of ['(', '$(', '"$(', '`', '${x:-', 'f()', '<(', '{ ', 'if ', '! ', 'a;', 'bash -c "', "eval '", 'a<<E ', '[[ ( '])
    expect(decide(part.repeat(Math.ceil(70_000 / part.length)))).toBe('ask');
});
