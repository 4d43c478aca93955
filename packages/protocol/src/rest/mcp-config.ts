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

/** Servers of tools. Unknown keys are refused; a bare URL stands for `{url}`. */
export const McpConfig = z.strictObject({
  sse_servers: z.array(z.union([z.string(), sse])).default([]),
  stdio_servers: z.array(stdio).default([]),
  shttp_servers: z.array(z.union([z.string(), shttp])).default([]),
});
export type McpConfig = z.output<typeof McpConfig>;
