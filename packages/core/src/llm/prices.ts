import type { LlmUsage } from './llm-provider.ts';
import { splitModelName } from './model-name.ts';
import { PRICE_TABLE } from './price-table.ts';

/** US dollars per million tokens. */
interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface ModelFacts {
  /** litellm's full name. */
  readonly name: string;
  readonly contextWindow: number;
  readonly maxOutput: number;
  readonly prices: Prices;
  readonly vision: boolean;
  readonly reasoning: boolean;
}

/** The table stays text, in which one row is found and read: reading all of them is milliseconds that a start need not pay. */
function rowOf(name: string): ModelFacts | undefined {
  const from = PRICE_TABLE.indexOf(`\n${name}\t`) + 1;
  return from === 0 ? undefined : readRow(PRICE_TABLE.slice(from, PRICE_TABLE.indexOf('\n', from)));
}

function readRow(row: string): ModelFacts {
  const [name = '', contextWindow, maxOutput, input, output, cacheRead, cacheWrite, abilities = ''] = row.split('\t');
  return {
    name,
    contextWindow: Number(contextWindow),
    maxOutput: Number(maxOutput),
    prices: { input: Number(input), output: Number(output), cacheRead: Number(cacheRead), cacheWrite: Number(cacheWrite) },
    vision: abilities.includes('v'),
    reasoning: abilities.includes('r'),
  };
}

/** Endpoints that pass other vendors' models on under their own names. */
const RELAYS = new Set(['openhands', 'litellm_proxy']);

/** Facts about a model by its litellm name, bare or with its provider; undefined when nobody knows. */
export function findModel(model: string): ModelFacts | undefined {
  const exact = rowOf(model);
  if (exact) return exact;
  const { vendor, modelId } = splitModelName(model);
  if (vendor !== undefined && RELAYS.has(vendor)) return findModel(modelId);
  return vendor === undefined ? undefined : rowOf(`${vendor}/${modelId}`);
}

/** US dollars for one answer. Tokens that a provider's cache gave or took have their own price. */
export function costOf({ prices }: ModelFacts, usage: LlmUsage): number {
  const fresh = Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
  const millionths =
    fresh * prices.input +
    usage.cacheReadTokens * (prices.cacheRead || prices.input) +
    usage.cacheWriteTokens * (prices.cacheWrite || prices.input) +
    usage.outputTokens * prices.output;
  return millionths / 1_000_000;
}

/** Names as clients offer them; what the frontends start with is always among them. */
const ALSO_LISTED = [
  'anthropic/claude-3-5-sonnet-20241022',
  'gpt-4o',
  'openhands/claude-sonnet-4-20250514',
  'openhands/gpt-5-2025-08-07',
  'openhands/gpt-5-mini-2025-08-07',
];

/** litellm names, sorted, for the choice in the settings. OpenAI's are listed bare, as litellm lists them. */
export function listModels(): string[] {
  const names = PRICE_TABLE.trim()
    .split('\n')
    .map((row) => row.slice(0, row.indexOf('\t')))
    .map((name) => (name.startsWith('openai/') ? name.slice('openai/'.length) : name));
  return [...new Set([...names, ...ALSO_LISTED])].toSorted();
}
