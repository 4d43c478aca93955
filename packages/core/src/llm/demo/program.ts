import { shellQuote } from '@tendon/protocol/executor-api';

export type Language = 'bash' | 'python' | 'node';

/** A program's text, and what it prints; undefined when that cannot be known. */
export interface Program {
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

export const LANGUAGES: Readonly<Record<Language, LanguageSupport>> = {
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

export function languageOf(word: string | undefined): Language {
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
