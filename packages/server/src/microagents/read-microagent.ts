import type { Microagents } from '@tendon/protocol';
import { parse } from 'yaml';

export type Microagent = Microagents['microagents'][number];

const MAX_FRONT_MATTER = 16 * 1024;

/**
 * A Markdown file with YAML between `---` lines before it. With trigger words it is knowledge, else it is always told. What is wrong
 * in the front matter is as if it were not there: the text is worth having.
 */
export function readMicroagent(fallbackName: string, markdown: string): Microagent {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(markdown.slice(0, MAX_FRONT_MATTER));
  const front = match ? frontMatter(match[1]!) : {};
  const triggers = words(front.triggers);
  return {
    name: typeof front.name === 'string' && front.name.trim() !== '' && front.name !== 'default' ? front.name : fallbackName,
    type: triggers.length > 0 ? 'knowledge' : 'repo',
    content: markdown.slice(match?.[0].length ?? 0).trim(),
    triggers,
    inputs: Array.isArray(front.inputs) ? front.inputs : [],
    tools: toolsIn(front.mcp_tools),
  };
}

function frontMatter(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parse(text, { maxAliasCount: 0, schema: 'core' });
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function words(value: unknown): string[] {
  const list = Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
  return list.filter((word): word is string => typeof word === 'string' && word.trim() !== '');
}

/** Names of the servers that bring them. */
function toolsIn(value: unknown): string[] {
  const servers = (value as { stdio_servers?: unknown } | undefined)?.stdio_servers;
  return Array.isArray(servers) ? servers.flatMap(({ name }: { name?: unknown } = {}) => (typeof name === 'string' ? [name] : [])) : [];
}
