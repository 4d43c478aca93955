/** Reads from what test runners print which tests passed: of pytest, unittest, go test, cargo, TAP, and runners that print a tree (jest, mocha, vitest, node). */
import { stripVTControlCharacters } from 'node:util';

export type TestStatus = 'passed' | 'failed' | 'skipped';

/** A test can be named in several ways. */
type Found = (status: TestStatus, names: readonly string[]) => void;
/** Reads the lines in order. */
type LineReader = (line: string) => void;

/** Longer lines, deeper indents and longer names are output, not names of tests. */
const MAX_LINE = 2_000;
const MAX_DEPTH = 16;
const MAX_NAME = 2_000;
const WEIGHT: Readonly<Record<TestStatus, number>> = { skipped: 0, passed: 1, failed: 2 };

/**
 * By every name of each test, of those that are wanted. One that failed once has failed, whatever else is printed of it. The text is
 * whatever the tested programs print: time and memory stay within a multiple of its length.
 */
export function readTestLog(text: string, wanted: Pick<ReadonlySet<string>, 'has'>): ReadonlyMap<string, TestStatus> {
  const tests = new Map<string, TestStatus>();
  const found: Found = (status, names) => {
    for (const name of names) if (wanted.has(name) && WEIGHT[status] >= WEIGHT[tests.get(name) ?? 'skipped']) tests.set(name, status);
  };
  const readers = READERS.map((make) => make(found));
  for (const line of stripVTControlCharacters(text).split(/\r?\n/)) if (line.length <= MAX_LINE) for (const read of readers) read(line);
  return tests;
}

const PYTEST: Readonly<Record<string, TestStatus>> = {
  PASSED: 'passed',
  XFAIL: 'passed',
  XPASS: 'passed',
  FAILED: 'failed',
  ERROR: 'failed',
  SKIPPED: 'skipped',
};
const PYTEST_WORD = Object.keys(PYTEST).join('|');
/** `-rA`, and the lines of workers. Parameters can hold spaces and dashes. */
const PYTEST_SUMMARY = new RegExp(`^(?:\\[gw\\d+\\] \\[ *\\d+%\\] )?(${PYTEST_WORD}) ([^\\s[]+::[^\\s[]+(?:\\[.*?\\](?=$| - ))?)`);
/** `-v`: a result, and what may follow it. */
const PYTEST_RESULT = new RegExp(` (${PYTEST_WORD})(?= |$)`, 'g');
const PYTEST_REST = /^(?: \(.*\))?(?: +\[ *\d+%\])?$/;

/** SWE-bench reads a name as one word: of parameters with spaces its lists have the beginning. */
function namesOfCase(name: string): readonly string[] {
  return name.includes(' ') ? [name, name.slice(0, name.indexOf(' '))] : [name];
}

function pytest(found: Found): LineReader {
  return (line) => {
    const [, word, name] = PYTEST_SUMMARY.exec(line) ?? [];
    if (word && name) return found(PYTEST[word]!, namesOfCase(name));
    if (!/^\S+::./.test(line)) return;
    for (const { 0: text, 1: result, index } of line.matchAll(PYTEST_RESULT))
      if (PYTEST_REST.test(line.slice(index + text.length))) return found(PYTEST[result!]!, namesOfCase(line.slice(0, index)));
  };
}

const UNITTEST_RESULT = /^(?:(ok|expected failure)|(FAIL|ERROR|unexpected success)|skipped\b.*)$/;

/** The result can follow on a later line: after the test's description, or after what it printed. */
function unittest(found: Found): LineReader {
  let open: readonly string[] = [];
  return (line) => {
    const [, name, owner, rest] = /^(\w+) \(([\w.]+)\)(.*)$/.exec(line) ?? [];
    if (name && owner) {
      // From Python 3.11 on the name stands in the brackets too.
      const place = owner.endsWith(`.${name}`) ? owner.slice(0, -name.length - 1) : owner;
      open = [`${name} (${place})`, `${name} (${place}.${name})`, `${place}.${name}`];
    }
    const text = rest ?? line;
    const result = UNITTEST_RESULT.exec(text.includes(' ... ') ? text.slice(text.lastIndexOf(' ... ') + 5) : text);
    if (!result || open.length === 0) return;
    found(result[1] ? 'passed' : result[2] ? 'failed' : 'skipped', open);
    open = [];
  };
}

function goTest(found: Found): LineReader {
  const status = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' } as const;
  return (line) => {
    const [, word, name] = /^\s*--- (PASS|FAIL|SKIP): (\S+) \(/.exec(line) ?? [];
    if (word && name) found(status[word as keyof typeof status], [name]);
  };
}

function cargo(found: Found): LineReader {
  const status = { ok: 'passed', FAILED: 'failed', ignored: 'skipped' } as const;
  return (line) => {
    const [, name, manner = '', word] = /^test (.+?)( - should panic| - compile(?: fail)?)? \.\.\. (ok|FAILED|ignored)\b/.exec(line) ?? [];
    if (name && word) found(status[word as keyof typeof status], [name, name + manner]);
  };
}

/** Parts are indented below a comment with the name of the whole. */
function tap(found: Found): LineReader {
  const path = new Path();
  return (line) => {
    const [, indent = '', title] = /^( *)# Subtest: (.*)$/.exec(line) ?? [];
    if (title !== undefined) return path.enter(indent.length, unescaped(title));
    const [, margin = '', not, text] = /^( *)(not )?ok \d+(?: -)? (.+)$/.exec(line) ?? [];
    if (text === undefined) return;
    const [name = '', directive = ''] = text.split(/ (?<!\\)# ?(?=[\w])/, 2);
    path.leave(margin.length);
    const isOpen = /^(?:skip|todo)/i.test(directive);
    found(isOpen ? 'skipped' : not ? 'failed' : 'passed', path.namesOf(unescaped(name.trim())));
  };
}

function unescaped(name: string): string {
  return name.replaceAll(/\\([#\\])/g, '$1');
}

const MARKS: Readonly<Record<string, TestStatus>> = {
  ...{ '✓': 'passed', '✔': 'passed', '√': 'passed' },
  ...{ '✕': 'failed', '✖': 'failed', '×': 'failed', '✗': 'failed' },
  ...{ '○': 'skipped', '﹣': 'skipped', '↓': 'skipped', '-': 'skipped' },
};
const MARKED = /^(\s*)([✓✔√✕✖×✗○﹣↓-]|\d+\)) (?:skipped )?(.+?)(?: \(?\d+(?:\.\d+)? ?m?s\)?)?(?: # SKIP.*)?$/;

/** A mark before each test, indented below the lines that name its parents. */
function tree(found: Found): LineReader {
  const path = new Path();
  return (line) => {
    const [, margin = '', mark = '', name] = MARKED.exec(line) ?? [];
    if (name !== undefined) {
      path.leave(margin.length);
      return found(MARKS[mark] ?? 'failed', path.namesOf(...name.split(' > ')));
    }
    const [, indent = '', title] = /^(\s*)(?:▶ )?(\S.*)$/.exec(line) ?? [];
    if (title !== undefined) path.enter(indent.length, title);
  };
}

const READERS: readonly ((found: Found) => LineReader)[] = [pytest, unittest, goTest, cargo, tap, tree];

/** The parents of a line, by the indentation of the lines before it. */
class Path {
  readonly #titles: { readonly indent: number; readonly title: string }[] = [];

  enter(indent: number, title: string): void {
    this.leave(indent);
    if (this.#titles.length < MAX_DEPTH) this.#titles.push({ indent, title });
  }

  leave(indent: number): void {
    while ((this.#titles.at(-1)?.indent ?? -1) >= indent) this.#titles.pop();
  }

  /** The name alone, and with what it is a part of, as runners write it. */
  namesOf(...name: readonly string[]): readonly string[] {
    const parts = [...this.#titles.map(({ title }) => title), ...name];
    const names: string[] = [];
    let length = 0;
    for (let from = parts.length - 1; from >= 0; from--) {
      length += parts[from]!.length;
      if (length > MAX_NAME || parts.length - from > 2 * MAX_DEPTH) break;
      const last = parts.slice(from);
      names.push(...[' > ', ' ', ' › '].map((between) => last.join(between)));
    }
    return names;
  }
}
