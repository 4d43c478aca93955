/**
 * Calls that a model wrote as text. Total: whatever stands there becomes words, a call, or a call whose arguments are no JSON,
 * which the turn reports back. Understood beside our own form: JSON inside `<tool_call>` and inside `<function=…>`, as open models are trained to write.
 */
import type { LlmToolSpec } from '../llm-provider.ts';
import { CallFinder, readStart, type CallStart } from './find-call.ts';

export interface WrittenCall {
  readonly name: string;
  /** JSON; where the call cannot be understood, what was written. */
  readonly arguments: string;
}

export interface WrittenCalls {
  readonly calls: readonly WrittenCall[];
  /** What stands between and after the calls. */
  readonly text: string;
}

/** More are refused by the turn, so they are not read. */
const MAX_CALLS = 65;
/** A model that goes on as if it had been answered: what follows rests on nothing. */
const INVENTED_RESULT = /^EXECUTION RESULT of \[/m;

/** Reads a text that begins with the call `first`. */
export function parseCalls(text: string, first: CallStart, tools: readonly LlmToolSpec[]): WrittenCalls {
  const names = new Set(tools.map(({ name }) => name));
  const calls: WrittenCall[] = [];
  const words: string[] = [];
  let left = text;
  let start: CallStart | undefined = first;
  while (start && calls.length < MAX_CALLS) {
    const place = { from: start.bodyAt, tools };
    const { call, end } = start.name === undefined ? readWrapped(left, place) : readFunction(left, start.name, place);
    calls.push(call);
    const next = new CallFinder(names).read(left.slice(end), true);
    const invented = INVENTED_RESULT.exec(next.words);
    words.push(invented ? next.words.slice(0, invented.index) : next.words);
    start = invented ? undefined : next.start;
    left = next.rest;
  }
  return {
    calls,
    text: words
      .map((part) => part.trim())
      .filter(Boolean)
      .join('\n\n'),
  };
}

interface Read {
  readonly call: WrittenCall;
  readonly end: number;
}

interface Place {
  readonly from: number;
  readonly tools: readonly LlmToolSpec[];
}

function readWrapped(text: string, { from, tools }: Place): Read {
  const inner = readStart(text, from);
  if (inner?.name !== undefined) {
    const { call, end } = readFunction(text, inner.name, { from: inner.bodyAt, tools });
    return { call, end: skip(text, end, /\s*<\/tool_call>/y) };
  }
  const { json, written, end } = readJson(text, from, '</tool_call>');
  const name = json?.name ?? /"name"\s*:\s*"([^"\n]{1,120})"/.exec(written)?.[1] ?? 'tool_call';
  const args = json?.arguments ?? json?.parameters;
  const isSound = typeof name === 'string' && json !== undefined;
  return { call: { name: String(name), arguments: isSound ? argumentsText(args) : written }, end };
}

function argumentsText(args: unknown): string {
  return typeof args === 'string' ? args : JSON.stringify(args ?? {});
}

function readFunction(text: string, name: string, { from, tools }: Place): Read {
  const bodyAt = skip(text, from, /\s*/y);
  if (text[bodyAt] === '{') {
    const { json, written, end } = readJson(text, bodyAt, '</function>');
    return { call: { name, arguments: json ? JSON.stringify(json) : written }, end };
  }
  const given = new Map<string, string>();
  let at = bodyAt;
  let isSound = true;
  for (;;) {
    at = skip(text, at, /\s*/y);
    const end = skip(text, at, FUNCTION_END);
    if (end > at || at === text.length || readStart(text, at) || text.startsWith('</tool_call>', at)) {
      const schemas = propertiesOf(tools.find((tool) => tool.name === name));
      const args = Object.fromEntries([...given].map(([key, value]) => [key, typed(value, schemas[key])]));
      return { call: { name, arguments: isSound ? JSON.stringify(args) : text.slice(from, at).trim() || '(nothing)' }, end };
    }
    PARAMETER.lastIndex = at;
    const parameter = given.size < MAX_PARAMETERS ? PARAMETER.exec(text) : null;
    if (parameter) {
      const value = readValue(text, PARAMETER.lastIndex);
      given.set(parameter[1]!, withoutEdges(value.text));
      isSound &&= value.isClosed;
      at = value.end;
      continue;
    }
    // Words where a parameter should be: what they mean cannot be known.
    isSound = false;
    NEXT_TAG.lastIndex = at + 1;
    at = NEXT_TAG.exec(text)?.index ?? text.length;
  }
}

const MAX_PARAMETERS = 100;
const PARAMETER = /<parameter(?:\s*=\s*|\s+name\s*=\s*)["']?([^\s"'<>]{1,120})["']?\s*>/y;
/** Some servers end an answer before the last tag is whole. */
const FUNCTION_END = /<\/function\s*(?:>|$)/y;
const NEXT_TAG = /<\/function\s*(?:>|$)|<parameter\b|<function\b/g;

function skip(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

interface Value {
  readonly text: string;
  readonly end: number;
  /** False when nothing reports its end: a part of it may be missing. */
  readonly isClosed: boolean;
}

const TAG = /<parameter(?:\s*=|\s+name\s*=)[^>\n]{1,130}>|<\/parameter>/g;
const FOLLOWS = /\s*(?:<parameter(?:\s*=|\s+name\s*=)|<\/function|<function\b|<\/tool_call>|$)/y;
const CLOSING = '</parameter>';
/** How far a better end is looked for beyond the first possible one. */
const MAX_LOOKAHEAD = 64 * 1024;

/**
 * A value may itself show calls. It ends at the first closing tag that something legal follows and that pairs with no opening one inside;
 * where no tag does, at the first that something legal follows.
 */
function readValue(text: string, from: number): Value {
  let depth = 0;
  let possible: number | undefined;
  TAG.lastIndex = from;
  for (let tag = TAG.exec(text); tag; tag = TAG.exec(text)) {
    if (possible !== undefined && tag.index > possible + MAX_LOOKAHEAD) break;
    if (tag[0] !== CLOSING) {
      depth++;
      continue;
    }
    FOLLOWS.lastIndex = tag.index + CLOSING.length;
    const isLegal = FOLLOWS.test(text);
    if (isLegal && depth === 0) return { text: text.slice(from, tag.index), end: tag.index + CLOSING.length, isClosed: true };
    if (isLegal) possible ??= tag.index;
    depth = Math.max(0, depth - 1);
  }
  if (possible !== undefined) return { text: text.slice(from, possible), end: possible + CLOSING.length, isClosed: true };
  return unclosed(text, from);
}

/** Ends with the call; at the end of the text it may have been cut. */
function unclosed(text: string, from: number): Value {
  const end = /\s*<\/function\s*>\s*(?=<function\b|<\/tool_call>|$)/g;
  end.lastIndex = from;
  const found = end.exec(text);
  if (!found) return { text: text.slice(from), end: text.length, isClosed: false };
  return { text: text.slice(from, found.index), end: text.indexOf('<', found.index), isClosed: true };
}

/** A value of several lines stands on lines of its own: the breaks around it are not part of it. */
function withoutEdges(value: string): string {
  const body = value.replace(/^\r?\n/, '');
  return body === value ? value : body.replace(value.startsWith('\r') ? /\r?\n$/ : /\n$/, '');
}

interface Json {
  readonly json: Readonly<Record<string, unknown>> | undefined;
  readonly written: string;
  readonly end: number;
}

/** How many closing tags are tried: the text of an argument may hold some. */
const MAX_TRIED = 8;

function readJson(text: string, from: number, closing: string): Json {
  let first: number | undefined;
  for (let tried = 0, at = text.indexOf(closing, from); at >= 0 && tried < MAX_TRIED; tried++, at = text.indexOf(closing, at + 1)) {
    first ??= at;
    const json = parseObject(text.slice(from, at));
    if (json) return { json, written: '', end: at + closing.length };
  }
  const written = text.slice(from, first ?? text.length);
  return { json: parseObject(written), written: written.trim(), end: first === undefined ? text.length : first + closing.length };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

type Schema = Readonly<Record<string, unknown>>;

function propertiesOf(tool: LlmToolSpec | undefined): Readonly<Record<string, Schema | undefined>> {
  return (tool?.parameters.properties ?? {}) as Readonly<Record<string, Schema>>;
}

/** The text itself, unless the tool takes no text there. */
function typed(value: string, schema: Schema | undefined): unknown {
  const types = schema ? typesOf(schema) : [];
  if (types.length === 0 || types.includes('string')) return value;
  const text = value.trim();
  if (types.includes('boolean') && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return value;
  }
}

/** Empty when the schema does not say. */
function typesOf(schema: Schema): readonly string[] {
  if (schema.type !== undefined) return [schema.type].flat() as string[];
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (choices) return choices.flatMap(typesOf);
  return Array.isArray(schema.enum) ? schema.enum.map((value) => typeof value) : [];
}
