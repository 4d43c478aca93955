import type { Tool } from '@tendon/core';
import { CallToolMcpAction } from '@tendon/protocol';

/** As a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

const MAX_NAME = 64;
const MAX_DESCRIPTION = 2_000;
const MAX_SCHEMA_BYTES = 16 * 1024;

/** The name by which the model calls it: models take letters, digits, `_` and `-`, at most 64. */
export function offeredName(server: string, tool: string): string {
  return `${server}_${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME);
}

/** `undefined` for one whose schema is larger than a model should have to read. */
export function offeredTool(name: string, { description = '', inputSchema }: ListedTool): Tool | undefined {
  const { $schema: _dialect, ...parameters }: Readonly<Record<string, unknown>> = { properties: {}, ...inputSchema };
  if (JSON.stringify(parameters).length > MAX_SCHEMA_BYTES) return undefined;
  return {
    spec: { name, description: description.slice(0, MAX_DESCRIPTION), parameters },
    needsSandbox: false,
    toAction: (args) => ({ ok: true, action: CallToolMcpAction.create({ name, arguments: { ...args } }) }),
  };
}

/** What a tool gave back, as far as it is checked here: any JSON. */
type Block = Readonly<Record<string, unknown>>;

const MAX_CHARS = 1_000_000;

/** The text of a result; what is not text is named. */
export function resultText(result: {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}): string {
  const blocks = Array.isArray(result.content) ? (result.content as readonly Block[]) : [];
  const texts = blocks.map(blockText).filter((text) => text !== '');
  if (texts.length === 0 && result.structuredContent !== undefined) texts.push(JSON.stringify(result.structuredContent));
  const whole = texts.join('\n\n');
  const text = whole.length > MAX_CHARS ? `${whole.slice(0, MAX_CHARS)}\n[the rest of ${whole.length} characters was left out]` : whole;
  return result.isError === true ? `The tool failed: ${text || 'it did not say why.'}` : text;
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return String(block.text);
    case 'image':
    case 'audio':
      return `[${String(block.type)}, ${String(block.mimeType)}, ${Math.floor((String(block.data).length * 3) / 4)} bytes]`;
    case 'resource_link':
      return `[${String(block.name ?? 'resource')}: ${String(block.uri)}]`;
    case 'resource': {
      const { uri, text } = (block.resource ?? {}) as Block;
      return typeof text === 'string' ? text : `[${String(uri)}]`;
    }
    default:
      return '';
  }
}
