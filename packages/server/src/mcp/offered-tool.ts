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
