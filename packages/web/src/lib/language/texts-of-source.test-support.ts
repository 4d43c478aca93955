/** What the source of the app says: which texts it asks for, and which words stand in it that are no text. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';

const root = join(import.meta.dirname, '../..');
const SAYS = new Set(['t', 'tx', 'textKey', 'textPattern']);
/** Attributes of elements and components that a person sees or hears. */
const SHOWN =
  /^(?:aria-label|aria-description|aria-roledescription|aria-valuetext|title|alt|placeholder|label|legend|about|none|hint|words|field|name)$/;
/** Properties that end on the screen. */
const SHOWN_PROPERTY = /^(?:title|words|about|question|consequence|verb|detail|name|text|label|holds|connection)$/;

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface SourceTexts {
  /** By `t`, `tx`, `textKey` and `textPattern`. */
  readonly texts: ReadonlySet<string>;
  /** On the screen as they stand, with the file. */
  readonly literals: readonly string[];
}

export function textsOfSource(): SourceTexts {
  const texts = new Set<string>();
  const literals: string[] = [];
  for (const name of globSync('**/*.{ts,tsx}', { cwd: root })) {
    // Each language has its own name.
    if (/\.test(?:-support)?\.tsx?$|^lib\/language\/language\.ts$/.test(name)) continue;
    const { program } = parseSync(name, readFileSync(join(root, name), 'utf8'));
    visit(program as unknown as Node, {
      text: (text) => texts.add(text),
      literal: (text) => literals.push(`${name}: ${text}`),
    });
  }
  return { texts, literals };
}

interface Found {
  readonly text: (text: string) => void;
  readonly literal: (text: string) => void;
}

/** `isShown`: a string here ends on the screen. */
function visit(node: Node, found: Found, isShown = false): void {
  if (node.type === 'CallExpression' && SAYS.has((node.callee as Node & { name?: string }).name ?? '')) {
    const [key, ...values] = node.arguments as Node[];
    for (const text of stringsIn(key!)) found.text(text);
    for (const value of values) visit(value, found);
  } else if (node.type === 'JSXText') {
    if (areWords(node.value as string)) found.literal((node.value as string).trim());
  } else if (isShown && stringOf(node) !== undefined) {
    if (areWords(stringOf(node)!)) found.literal(stringOf(node)!);
    visitEach(node.expressions, found, true);
  } else if (node.type === 'JSXAttribute') {
    visitEach(node.value, found, SHOWN.test(nameOf(node.name as Node)));
  } else if (node.type === 'Property') {
    visitEach(node.value, found, SHOWN_PROPERTY.test(nameOf(node.key as Node)));
  } else {
    // What a condition compares, what a call is given and where it is looked up does not end here.
    const passes =
      isShown && /^(?:ConditionalExpression|LogicalExpression|JSXExpressionContainer|ParenthesizedExpression)$/.test(node.type);
    const isChild = node.type === 'JSXElement' || node.type === 'JSXFragment';
    for (const [key, value] of Object.entries(node)) {
      const isExpression = node.type === 'JSXExpressionContainer' && key === 'expression';
      visitEach(value, found, (passes && key !== 'test') || (isChild && key === 'children') || (isExpression && isShown));
    }
  }
}

function visitEach(value: unknown, found: Found, isShown: boolean): void {
  for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) visit(each, found, isShown);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

function nameOf(node: Node): string {
  return String(node.name ?? node.value);
}

/** Of a literal, or of a template its words. */
function stringOf(node: Node): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type !== 'TemplateLiteral') return undefined;
  return (node.quasis as readonly { readonly value: { readonly cooked: string } }[]).map(({ value }) => value.cooked).join(' ');
}

function* stringsIn(node: Node): Generator<string> {
  const own = stringOf(node);
  if (own !== undefined) yield own;
  if (node.type === 'ConditionalExpression') for (const each of [node.consequent, node.alternate]) yield* stringsIn(each as Node);
  if (node.type === 'LogicalExpression') for (const each of [node.left, node.right]) yield* stringsIn(each as Node);
}

/** The same in every language: names, and examples of what is typed. */
const NAMES =
  /^(?:,? ?Tendon|GitHub|GitLab|Bitbucket|Ollama|LM Studio|vLLM|demo|enter|(?:mod|ctrl)\+\S+|\/[a-z]+|tendon(?: [a-z]+)+|files|npx -y .*|\S+[./]\S+)$/;

/** Two letters that follow each other. */
function areWords(text: string): boolean {
  return /\p{L}{2}/u.test(text) && !NAMES.test(text.trim());
}
