import { z } from 'zod';

/** An MCP server with an address, and how this server is let in there. */
export const McpLogin = z.object({
  /** Null: a login to an address that nothing names any more. */
  name: z.string().nullable(),
  url: z.string(),
  state: z.enum(['key', 'logged_in', 'logged_out']),
  logged_in_at: z.string().nullable(),
});
export type McpLogin = z.output<typeof McpLogin>;

export const McpLoginList = z.object({ servers: z.array(McpLogin) });
export type McpLoginList = z.output<typeof McpLoginList>;

const server = z.string().trim().min(1).max(2_000);

/** `server`: a name or an address of the list. The client is for servers where none can register itself. */
export const BeginMcpLogin = z.object({
  server,
  client_id: z.string().trim().min(1).max(1_000).optional(),
  client_secret: z.string().trim().min(8).max(4_000).optional(),
});
export type BeginMcpLogin = z.output<typeof BeginMcpLogin>;

/** A person opens the address and permits it there, within so many seconds. */
export const BegunMcpLogin = z.object({ authorization_url: z.string(), expires_in: z.number() });
export type BegunMcpLogin = z.output<typeof BegunMcpLogin>;

export const EndMcpLogin = z.object({ server });

/** A name or an address of a server that is stored. */
export const TestMcpServer = z.object({ server });

/** What it offers now; `failure`: why it cannot be used, in its own words where it has some. */
export const McpTest = z.object({
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
  failure: z.string().nullable(),
});
export type McpTest = z.output<typeof McpTest>;
