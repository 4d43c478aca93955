import type { Tool } from '@tendon/core';
import { CallToolMcpAction } from '@tendon/protocol';

export const TOOL_SEARCH = 'tool_search';

/** More than these are found by a search: the schemas of all would be sent with every request. */
export const MAX_SHOWN = 30;
const MAX_FOUND = 8;
const MAX_SERVERS_NAMED = 16;
const MAX_LINE = 200;

/** Stands for the tools that are not shown; `servers` are the names of what they come from, with how many each has. */
export function toolSearch(servers: ReadonlyMap<string, number>): Tool {
  const named = [...servers].slice(0, MAX_SERVERS_NAMED).map(([name, count]) => `${name} (${count})`);
  return {
    spec: {
      name: TOOL_SEARCH,
      description: `Find tools by words about what they do, or by name; those that are found can be called from then on. There are more tools than are listed, from: ${named.join(', ')}.`,
      parameters: { type: 'object', properties: { query: { type: 'string', description: 'A few words.' } }, required: ['query'] },
    },
    needsSandbox: false,
    toAction({ query }) {
      if (typeof query !== 'string' || query.trim() === '')
        return { ok: false, error: 'The call of tool_search needs the parameter "query".' };
      return { ok: true, action: CallToolMcpAction.create({ name: TOOL_SEARCH, arguments: { query } }) };
    },
  };
}

/** The tools that fit best, at most eight: a word in the name counts more than one in the description. */
export function findTools(tools: readonly Tool[], query: string): readonly Tool[] {
  const words = wordsIn(query);
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, words) })).filter(({ score }) => score > 0);
  return scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_FOUND)
    .map(({ tool }) => tool);
}

function scoreOf({ spec: { name, description } }: Tool, words: readonly string[]): number {
  const [inName, inDescription] = [name.toLowerCase(), description.toLowerCase()];
  return words.reduce((score, word) => score + (inName.includes(word) ? 3 : 0) + (inDescription.includes(word) ? 1 : 0), 0);
}

function wordsIn(text: string): readonly string[] {
  const words =
    text
      .slice(0, 1_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => word.length > 1))].slice(0, 20);
}

/** What the model is answered. */
export function foundText(found: readonly Tool[], query: string): string {
  if (found.length === 0) return `No tool fits "${query.slice(0, 100)}". Try other words.`;
  const lines = found.map(({ spec: { name, description } }) => `- ${name}: ${description.replaceAll(/\s+/g, ' ').slice(0, MAX_LINE)}`);
  return `These tools can be called now:\n${lines.join('\n')}`;
}
