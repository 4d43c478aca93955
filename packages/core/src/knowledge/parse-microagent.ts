import type { Microagents } from '@tendon/protocol';
import { parse } from 'yaml';

export type Microagent = Microagents['microagents'][number];

export interface ParsedMicroagent {
  readonly microagent: Microagent;
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

/**
 * A Markdown file with YAML between `---` lines before it. With trigger words it is knowledge, else it is always shown. What is wrong
 * in the front matter is as if it were not there: the text is worth having. Total.
 */
export function parseMicroagent(fallbackName: string, markdown: string): ParsedMicroagent {
  const { front, content, problem } = splitFrontMatter(markdown);
  const triggers = words(front.triggers).slice(0, MAX_TRIGGERS);
  const microagent: Microagent = {
    name: typeof front.name === 'string' && front.name.trim() !== '' && front.name !== 'default' ? front.name : fallbackName,
    type: triggers.length > 0 ? 'knowledge' : 'repo',
    content,
    triggers,
    inputs: Array.isArray(front.inputs) ? front.inputs : [],
    tools: toolsIn(front.mcp_tools),
  };
  return { microagent, problem };
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
