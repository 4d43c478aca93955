import { z } from 'zod';

const apiKey = z.string().nullish();
const sse = z.strictObject({ url: z.string(), api_key: apiKey });
const shttp = z.strictObject({ url: z.string(), api_key: apiKey, timeout: z.number().int().positive().default(60) });
const stdio = z.strictObject({
  name: z.string(),
  command: z.string(),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
});

/** MCP servers. Unknown keys are refused; a bare URL stands for `{url}`. */
export const McpConfig = z.strictObject({
  sse_servers: z.array(z.union([z.string(), sse], { error: 'an address or {url, api_key} is expected' })).default([]),
  stdio_servers: z.array(stdio).default([]),
  shttp_servers: z.array(z.union([z.string(), shttp], { error: 'an address or {url, api_key, timeout} is expected' })).default([]),
});
export type McpConfig = z.output<typeof McpConfig>;

const MAX_CHARS = 64 * 1024;

/** As a client gives it: bounded, and each server one that could be met. What lies in the store was checked when it came. */
export const GivenMcpConfig = McpConfig.superRefine((config, context) => {
  const refuse = (path: readonly (string | number)[], message: string): void =>
    context.addIssue({ code: 'custom', path: [...path], message });
  for (const kind of ['sse_servers', 'shttp_servers'] as const) {
    for (const [index, server] of config[kind].entries()) {
      const url = URL.parse(typeof server === 'string' ? server : server.url);
      if (!url || !/^https?:$/.test(url.protocol)) refuse([kind, index, 'url'], 'an address with http:// or https:// is expected');
    }
  }
  for (const [index, { name, command }] of config.stdio_servers.entries()) {
    if (name.trim() === '') refuse(['stdio_servers', index, 'name'], 'a name is expected');
    if (!/^\S+$/.test(command.trim()))
      refuse(['stdio_servers', index, 'command'], 'one program is expected; what follows it belongs in args');
  }
  if (JSON.stringify(config).length > MAX_CHARS) refuse([], `at most ${MAX_CHARS} characters are taken`);
});
