import { parse } from 'yaml';
import type { Microagent } from './microagent.ts';

export interface ParsedMicroagent {
  readonly microagent: Microagent;
  /** On one line; empty where the front matter has none. */
  readonly description: string;
  /** What was wrong with the front matter, in words that can be shown. */
  readonly problem: string | undefined;
}

/** Where its end is looked for. */
const MAX_FRONT_MATTER = 16 * 1024;
/** The parser's work grows with nesting, beginnings and faults, each of it a character of these: more is not given to it. */
const MAX_YAML = 4 * 1024;
const MAX_INDICATORS = 256;
const INDICATOR = /[[\]{},&*!|>%@`#]|[-?:](?=\s|$)/g;
/** Every word of every microagent is looked for in each message. */
const MAX_TRIGGERS = 64;
const MAX_WORD = 200;
/** As the specification of agent skills bounds it. */
const MAX_DESCRIPTION = 1_024;

/**
 * A Markdown file with YAML between `---` lines before it. With trigger words it is knowledge, else it is always shown, unless its `type`
 * says otherwise: `repo` is always shown, `knowledge` without trigger words is brought by its name, and `task` by `/name`. What is wrong
 * in the front matter is as if it were not there: the text is worth having. Total.
 */
export function parseMicroagent(fallbackName: string, markdown: string): ParsedMicroagent {
  const { front, content, problem } = splitFrontMatter(markdown);
  const name = typeof front.name === 'string' && front.name.trim() !== '' && front.name !== 'default' ? front.name : fallbackName;
  const triggers = triggersOf(front, name).slice(0, MAX_TRIGGERS);
  const [agent, version] = [oneWord(front.agent), oneWord(front.version)];
  const microagent: Microagent = {
    name,
    type: triggers.length > 0 ? 'knowledge' : 'repo',
    content,
    triggers,
    inputs: Array.isArray(front.inputs) ? front.inputs : [],
    tools: toolsIn(front.mcp_tools),
    ...(agent !== undefined && { agent }),
    ...(version !== undefined && { version }),
  };
  return { microagent, description: oneLine(front.description), problem };
}

type FrontMatter = Readonly<Record<string, unknown>>;

interface SplitFile {
  readonly front: FrontMatter;
  /** What comes after it. */
  readonly content: string;
  readonly problem: string | undefined;
}

/** Total: what is wrong in the front matter is as if it were not there. */
export function splitFrontMatter(markdown: string): SplitFile {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(markdown.slice(0, MAX_FRONT_MATTER));
  const read = match ? frontMatter(match[1]!) : { front: {}, problem: undefined };
  return { ...read, content: markdown.slice(match?.[0].length ?? 0).trim() };
}

function triggersOf({ type, triggers }: FrontMatter, name: string): string[] {
  const given = words(triggers);
  if (type === 'repo' || type === 'repository') return [];
  if (type === 'task') return [...new Set([`/${name}`, ...given])];
  return type === 'knowledge' && given.length === 0 ? [name] : given;
}

/** A version may be written as a number. */
function oneWord(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' ? text.trim().slice(0, MAX_WORD) : undefined;
}

function oneLine(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_DESCRIPTION) : '';
}

function frontMatter(text: string): { readonly front: FrontMatter; readonly problem: string | undefined } {
  if (text.length > MAX_YAML) return { front: {}, problem: `its front matter is longer than ${MAX_YAML} characters` };
  if ((text.match(INDICATOR)?.length ?? 0) > MAX_INDICATORS) {
    return { front: {}, problem: `its front matter has more than ${MAX_INDICATORS} brackets, dashes, colons and the like` };
  }
  try {
    const value: unknown = parse(text, { maxAliasCount: 0, schema: 'core', logLevel: 'error' });
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { front: value as FrontMatter, problem: undefined };
    return { front: {}, problem: value === null ? undefined : 'its front matter is no mapping' };
  } catch (error) {
    return { front: {}, problem: `its front matter cannot be read: ${String(error).slice(0, 200)}` };
  }
}

function words(value: unknown): string[] {
  const list = Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
  return list.filter((word): word is string => typeof word === 'string' && word.trim() !== '').map((word) => word.trim());
}

/** Names of the servers that bring them. */
function toolsIn(value: unknown): string[] {
  const servers = (value as { stdio_servers?: unknown } | null | undefined)?.stdio_servers;
  if (!Array.isArray(servers)) return [];
  return servers.flatMap((server: { name?: unknown } | null) => (typeof server?.name === 'string' ? [server.name] : []));
}
