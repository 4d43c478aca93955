/** Arguments that a tool's schema wants to have in headers too (`x-mcp-header`), for what stands between this server and the tool. */
import { z } from 'zod';
import type { ListedTool } from './offered-tool.ts';

type Json = Readonly<Record<string, unknown>>;

interface HeaderParameter {
  readonly path: readonly string[];
  readonly header: string;
  readonly type: unknown;
}

const MAX_DEPTH = 8;
const Properties = z.record(z.string(), z.looseObject({}));

/** Whether all of them have names that a header can have, each once, and values that fit into one. */
export function withReadableHeaders({ inputSchema }: ListedTool): boolean {
  const found = parametersIn(inputSchema);
  const names = found.map(({ header }) => header.toLowerCase());
  const areFit = found.every(
    ({ header, type }) => /^[!#$%&'*+.^_`|~\w-]+$/.test(header) && ['string', 'integer', 'boolean'].includes(String(type)),
  );
  return areFit && new Set(names).size === names.length;
}

export function parameterHeaders(tool: ListedTool | undefined, args: Json): Readonly<Record<string, string>> {
  const found = tool ? parametersIn(tool.inputSchema) : [];
  return Object.fromEntries(
    found.flatMap(({ path, header }) => {
      const value = path.reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? (at as Json)[name] : undefined), args);
      return value === undefined || value === null || typeof value === 'object'
        ? []
        : [[`mcp-param-${header}`, headerText(String(value as string))]];
    }),
  );
}

/** As it is where a header can hold it, else in Base64. */
export function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function parametersIn(schema: Json, path: readonly string[] = []): readonly HeaderParameter[] {
  const properties = path.length < MAX_DEPTH ? Properties.safeParse(schema.properties).data : undefined;
  return Object.entries(properties ?? {}).flatMap(([name, inner]) => {
    const header = inner['x-mcp-header'];
    const own = header === undefined ? [] : [{ path: [...path, name], header: String(header), type: inner.type }];
    return [...own, ...parametersIn(inner, [...path, name])];
  });
}
