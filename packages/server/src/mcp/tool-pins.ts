/**
 * How MCP servers described their tools when they were first met: a description is text that every model reads, so a change of it is
 * reported. It owns one record for each server, `mcp-pins/<digest of its address or program>`, with a digest of each definition.
 */
import { createHash } from 'node:crypto';
import type { RecordStore } from '@tendon/core';
import { Mutex } from '@tendon/protocol/async';
import type { McpServer } from './mcp-server.ts';
import type { ListedTool } from './offered-tool.ts';

type Pins = Readonly<Record<string, string>>;

const MAX_PINS = 256;

export class ToolPins {
  readonly #records: Pick<RecordStore, 'update'>;
  readonly #writing = new Mutex();

  constructor(records: Pick<RecordStore, 'update'>) {
    this.#records = records;
  }

  /** The names of tools that are defined otherwise than before, which counts as known from now on. Rejects with the storage's error. */
  changed(server: McpServer, tools: readonly ListedTool[]): Promise<readonly string[]> {
    return this.#writing.run(async () => {
      const id = identityOf(server);
      const now = tools.map((tool) => [tool.name, digest([tool.description ?? '', tool.inputSchema])] as const);
      let changed: readonly string[] = [];
      await this.#records.update<Pins>('mcp-pins', id, (before = {}) => {
        changed = now.filter(([name, pin]) => Object.hasOwn(before, name) && before[name] !== pin).map(([name]) => name);
        if (now.every(([name, pin]) => Object.hasOwn(before, name) && before[name] === pin)) return undefined;
        return { sort: id, value: Object.fromEntries([...new Map([...Object.entries(before), ...now])].slice(-MAX_PINS)) };
      });
      return changed;
    });
  }
}

/** Where it is or what is run, never its keys. */
function identityOf(server: McpServer): string {
  return digest(server.kind === 'stdio' ? [server.command, ...server.args] : [server.url]);
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}
