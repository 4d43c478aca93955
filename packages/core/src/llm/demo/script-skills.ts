import { shellQuote } from '@tendon/protocol/executor-api';
import { bash, createFile, failed, fenced, finished, type DemoMove, type DemoSkill } from './demo-skill.ts';
import { NAME, slug, unquoted, workspacePath, WORKSPACE, type ToolResult } from './read-request.ts';

const LANGUAGE = 'bash|shell|sh|python3?|py|node(?:\\.?js)?|javascript|js';
const MAKE = '(?:please\\s+)?(?:can you\\s+|could you\\s+)?(?:write|create|make|build|give)(?:\\s+me)?';
const CALLED = `(?:\\s+(?:called|named|in|as)\\s+(?:the\\s+file\\s+)?(${NAME}))?`;
const AND_RUN = /[\s,;.]*(?:\b(?:and|then)\b[\s,]*)+(?:run|execute|test|try|start)\s+(?:it|the (?:script|program|file))\b.*$/is;

const PRINTS = new RegExp(
  `^${MAKE}\\s+(?:a|an|the)?\\s*(?:small |simple |tiny |short )?(?:(${LANGUAGE})\\s+)?(?:script|program|one-liner|file)(?:\\s+in\\s+(${LANGUAGE}))?${CALLED}` +
    `\\s*,?\\s+(?:that|which|to)\\s+(?:just |only )?(?:prints?|echo(?:e?s)?|outputs?|says?|displays?|writes?|shows?)(?:\\s+out)?\\s+(.+)$`,
  'is',
);
const FIZZBUZZ = new RegExp(`\\bfizz[\\s-]?buzz\\b`, 'i');
const IN_LANGUAGE = new RegExp(`\\b(${LANGUAGE})\\b`, 'i');
const NUMBERS = /^(?:the\s+)?numbers?\s+(?:from\s+)?(-?\d{1,6})\s+(?:to|through|up to)\s+(-?\d{1,6})$/i;
const DATE = /^the\s+(?:current\s+|today'?s\s+)?(?:date|time|date and time)$/i;

export const SCRIPT_SKILLS: readonly DemoSkill[] = [
  {
    example: 'write fizzbuzz in python',
    next: ({ task, results }) => {
      if (!FIZZBUZZ.test(task)) return undefined;
      const language = languageOf(IN_LANGUAGE.exec(task)?.[1]);
      return writeAndRun(language, LANGUAGES[language].fizzbuzz, `${WORKSPACE}/fizzbuzz`, results);
    },
  },
  {
    example: 'write a bash script that prints hello',
    next: ({ task, results }) => {
      const match = PRINTS.exec(task.replace(AND_RUN, ''));
      if (!match) return undefined;
      const [, before, after, name, printed = ''] = match;
      const file = name === undefined ? undefined : workspacePath(name);
      if (name !== undefined && file === undefined) return outside(name);
      const language = languageOf(before ?? after ?? /\.(\w+)$/.exec(file ?? '')?.[1]);
      const path = file ?? `${WORKSPACE}/${slug(unquoted(printed), 'print')}`;
      return writeAndRun(language, programFor(unquoted(printed), language), path, results);
    },
  },
];

export function outside(name: string): DemoMove {
  return { type: 'say', text: `I only touch files inside ${WORKSPACE}, and ${name} is not one.` };
}

function programFor(printed: string, language: Language): Program {
  const range = NUMBERS.exec(printed);
  if (range) return LANGUAGES[language].numbers(Number(range[1]), Number(range[2]));
  if (DATE.test(printed)) return LANGUAGES[language].date;
  return LANGUAGES[language].prints(printed);
}

const MAX_NAMES = 5;

/** Creates the file under the first free name of `x.sh, x-2.sh, …`, runs it, and compares what it printed with what it should. */
function writeAndRun(language: Language, program: Program, path: string, results: readonly ToolResult[]): DemoMove {
  const { extension, interpreter } = LANGUAGES[language];
  const stem = path.endsWith(`.${extension}`) ? path.slice(0, -extension.length - 1) : path;
  const nameAt = (attempt: number) => `${stem}${attempt === 0 ? '' : `-${attempt + 1}`}.${extension}`;
  const created = results.findIndex((result) => !result.failed || !/exist/i.test(result.text));
  const attempt = created < 0 ? results.length : created;
  const file = nameAt(attempt);
  if (created < 0) {
    if (attempt === MAX_NAMES) return failed(`There are already files up to ${nameAt(MAX_NAMES - 1)}`, results[MAX_NAMES - 1]!);
    const thought =
      attempt === 0 ? `I write the script to ${file}.` : `${nameAt(attempt - 1)} already exists and I leave it alone; I take ${file}.`;
    return createFile(thought, file, program.source);
  }
  const [written, ran] = results.slice(created);
  if (written?.failed) return failed(`I could not write ${file}`, written);
  if (!ran) return bash('Now I run it.', `${interpreter} ${shellQuote(file)}`);
  if (ran.failed) return failed(`I wrote ${file}, but running it failed`, ran);
  const output = ran.text.replace(/\r\n/g, '\n').trimEnd();
  if (program.expected !== undefined && output !== program.expected.trimEnd())
    return failed(`I wrote ${file}, but it printed something else`, ran);
  return finished(`I wrote ${file} and ran it with ${interpreter}. It printed:\n\n${fenced(output)}`);
}

type Language = 'bash' | 'python' | 'node';

/** A program's text, and what it prints; undefined when that cannot be known. */
interface Program {
  readonly source: string;
  readonly expected: string | undefined;
}

interface LanguageSupport {
  readonly extension: string;
  readonly interpreter: string;
  /** A program that prints exactly this text and a newline, whatever characters it holds. */
  readonly prints: (text: string) => Program;
  readonly numbers: (from: number, to: number) => Program;
  readonly date: Program;
  readonly fizzbuzz: Program;
}

const FIZZBUZZ_OUTPUT = Array.from({ length: 100 }, (_, index) => {
  const n = index + 1;
  return `${n % 3 === 0 ? 'Fizz' : ''}${n % 5 === 0 ? 'Buzz' : ''}` || String(n);
}).join('\n');

const BASH_FIZZBUZZ = `#!/usr/bin/env bash
for ((n = 1; n <= 100; n++)); do
  word=''
  ((n % 3 == 0)) && word+=Fizz
  ((n % 5 == 0)) && word+=Buzz
  echo "\${word:-$n}"
done
`;

const PYTHON_FIZZBUZZ = `for n in range(1, 101):
    print(("Fizz" if n % 3 == 0 else "") + ("Buzz" if n % 5 == 0 else "") or n)
`;

const NODE_FIZZBUZZ = `for (let n = 1; n <= 100; n++) {
  console.log((n % 3 === 0 ? 'Fizz' : '') + (n % 5 === 0 ? 'Buzz' : '') || n);
}
`;

const LANGUAGES: Readonly<Record<Language, LanguageSupport>> = {
  bash: {
    extension: 'sh',
    interpreter: 'bash',
    prints: (text) => ({ source: `#!/usr/bin/env bash\nprintf '%s\\n' ${shellQuote(text)}\n`, expected: text }),
    numbers: (from, to) => ({
      source: `#!/usr/bin/env bash\nseq -- ${from} ${Math.sign(to - from) || 1} ${to}\n`,
      expected: numbers(from, to),
    }),
    date: { source: '#!/usr/bin/env bash\ndate\n', expected: undefined },
    fizzbuzz: { source: BASH_FIZZBUZZ, expected: FIZZBUZZ_OUTPUT },
  },
  python: {
    extension: 'py',
    interpreter: 'python3',
    prints: (text) => ({ source: `print(${literal(text)})\n`, expected: text }),
    numbers: (from, to) => {
      const step = Math.sign(to - from) || 1;
      return { source: `for n in range(${from}, ${to + step}, ${step}):\n    print(n)\n`, expected: numbers(from, to) };
    },
    date: {
      source: 'from datetime import datetime\n\nprint(datetime.now().astimezone().isoformat(timespec="seconds"))\n',
      expected: undefined,
    },
    fizzbuzz: { source: PYTHON_FIZZBUZZ, expected: FIZZBUZZ_OUTPUT },
  },
  node: {
    extension: 'js',
    interpreter: 'node',
    prints: (text) => ({ source: `console.log(${literal(text)});\n`, expected: text }),
    numbers: (from, to) => {
      const [test, step] = to < from ? ['>=', '--'] : ['<=', '++'];
      return { source: `for (let n = ${from}; n ${test} ${to}; n${step}) console.log(n);\n`, expected: numbers(from, to) };
    },
    date: { source: 'console.log(new Date().toString());\n', expected: undefined },
    fizzbuzz: { source: NODE_FIZZBUZZ, expected: FIZZBUZZ_OUTPUT },
  },
};

function languageOf(word: string | undefined): Language {
  if (/^py/i.test(word ?? '')) return 'python';
  return /^(node|javascript|js|mjs|cjs)/i.test(word ?? '') ? 'node' : 'bash';
}

/** A string literal of Python and of JavaScript alike: JSON's escapes mean the same in both. */
function literal(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** As many as a message can show are compared; longer runs are taken as they come. */
function numbers(from: number, to: number): string | undefined {
  const count = Math.abs(to - from) + 1;
  const step = Math.sign(to - from) || 1;
  return count > 1_000 ? undefined : Array.from({ length: count }, (_, index) => from + index * step).join('\n');
}
