import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { parseSync } from 'vite';
import german from '../lib/language/de.json';
import { speak } from '../lib/language/text.ts';
import { translator } from '../lib/language/translator.ts';
import { isKnownReason, reasonWords } from './reason-words.ts';

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

const policy = join(import.meta.dirname, '../../../core/src/policy');
const LANGUAGE = { language: 'en', locale: undefined, translate: undefined };

afterEach(() => speak(LANGUAGE));

/** Every sentence by which the policy makes an action wait, each value in it an `x`. */
function reasonsOfSource(): readonly string[] {
  const found = new Set<string>();
  for (const name of globSync('**/*.ts', { cwd: policy })) {
    if (/\.test(?:-support)?\.ts$/.test(name)) continue;
    const { program } = parseSync(name, readFileSync(join(policy, name), 'utf8'));
    visit(program as unknown as Node, name, (text) => found.add(text));
  }
  return [...found];
}

function visit(node: Node, file: string, say: (text: string) => void): void {
  if (node.type === 'CallExpression' && isDoubtCall(node.callee as Node)) sayEach(node.arguments, say);
  if (node.type === 'ReturnStatement' && /doubt/.test(file)) sayEach([node.argument], say);
  if (node.type === 'VariableDeclarator' && nameOf(node.id) === 'doubt') sayEach([node.init], say);
  if (node.type === 'ObjectExpression') {
    const value = (name: string) => (node.properties as Node[]).find(({ key }) => nameOf(key) === name)?.value as Node | undefined;
    if (/^(?:ask|open)$/.test(String(value('decision')?.value))) sayEach([value('reason')], say);
  }
  for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, file, say);
}

/** Every sentence by which the parser of shell lines gives up. */
function shellProblems(): readonly string[] {
  const found = new Set<string>();
  for (const name of globSync('shell/{parse-shell,word-reader,line-reader}.ts', { cwd: policy })) {
    const { program } = parseSync(name, readFileSync(join(policy, name), 'utf8'));
    visitFailures(program as unknown as Node, (text) => found.add(text));
  }
  return [...found];
}

function visitFailures(node: Node, say: (text: string) => void): void {
  if (node.type === 'CallExpression' && nameOf((node.callee as Node).property) === 'fail') sayEach(node.arguments, say);
  if (node.type === 'Property' && nameOf(node.key) === 'reason') sayEach([node.value], say);
  for (const child of Object.values(node).flat()) if (isNode(child)) visitFailures(child, say);
}

/** `this.#doubt(…)` and `doubts.add(…)`. */
function isDoubtCall({ object, property }: Node): boolean {
  return nameOf(property) === 'doubt' || nameOf((object as Node | undefined)?.property) === 'doubts';
}

/** Both branches of a condition; what is only handed on has no words. */
function sayEach(nodes: unknown, say: (text: string) => void): void {
  for (const node of nodes as readonly (Node | undefined)[]) {
    if (node?.type === 'ConditionalExpression') sayEach([node.consequent, node.alternate], say);
    if (node?.type === 'Literal' && typeof node.value === 'string') say(node.value);
    if (node?.type !== 'TemplateLiteral') continue;
    say((node.quasis as readonly { readonly value: { readonly cooked: string } }[]).map(({ value }) => value.cooked).join('x'));
  }
}

function isNode(value: unknown): value is Node {
  return typeof (value as Node | null)?.type === 'string';
}

function nameOf(node: unknown): string {
  return String((node as Node | undefined)?.name ?? '');
}

it('CL1311: every sentence by which the policy makes an action wait is known', () => {
  const reasons = reasonsOfSource();
  expect(reasons).toContain('no rule allows `x`');
  expect(reasons.length).toBeGreaterThan(35);
  // What is nothing but a name needs no words.
  expect(reasons.filter((reason) => !/^`[^`]+`$/.test(reason) && !isKnownReason(reason.replace(/^a rule x/, 'a rule asks about')))).toEqual(
    [],
  );
});

it('CL1311: why a shell line cannot be read is known too', () => {
  const problems = shellProblems().filter((problem) => !/^`[^`]+`$/.test(problem));
  expect(problems).toContain('a quote has no end');
  expect(problems.length).toBeGreaterThan(35);
  speak({ language: 'de', locale: undefined, translate: translator('de', german) });
  expect(problems.filter((problem) => reasonWords(`it cannot be read: ${problem}`).endsWith(`: ${problem}`))).toEqual([]);
  expect(reasonWords('it cannot be read: `then`')).toBe('der Befehl nicht lesbar ist: `then`');
});

it('CL1311: in another language the reason is in that language, in English as the server wrote it, and an unknown one as it came', () => {
  const reasons = [
    'no rule allows `git`',
    'a rule is about `git push` with the path /srv with this',
    'the secret KEY may go to a.example alone, not to the page that is open, which may be another',
    'the hook “guard” asks: on Fridays?',
    'the moon is full',
  ];
  expect(reasons.map(reasonWords)).toEqual(reasons);
  speak({ language: 'de', locale: undefined, translate: translator('de', german) });
  expect(reasons.map(reasonWords)).toEqual([
    'keine Regel `git` erlaubt',
    'es eine Regel für `git push` mit Pfad /srv with this gibt',
    'das Secret KEY nur an a.example gehen darf, nicht an die offene Seite, die eine andere sein kann',
    'der Hook „guard“ nachfragt: on Fridays?',
    'the moon is full',
  ]);
});
