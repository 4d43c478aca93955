/**
 * Connects a preview's place to a program in a sandbox. Remembers, as long as that program listens, which program of a
 * conversation listened first, and owns nothing else.
 */
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { NotServed, type SandboxPorts, type SandboxRuntimes } from '@tendon/runtime';
import { notServed, PAGES, type PreviewPage } from './preview-page.ts';
import type { PreviewPort } from '../platform/preview-site.ts';
import type { Conversations } from '../conversations/conversations.ts';

/** A connection to the program, a page that says why there is none, or a redirect on the same origin. */
export type Reached =
  | { readonly state: 'open'; readonly target: Duplex }
  | { readonly state: 'closed'; readonly page: PreviewPage }
  | { readonly state: 'elsewhere'; readonly path: string };

export interface ReachContext {
  readonly conversations: Conversations;
  readonly runtimes: SandboxRuntimes;
}

const CONNECT_MS = 10_000;
/** An editor starts within seconds or not at all; the browser shows a page meanwhile. */
const EDITOR_MS = 5_000;
const MAX_REMEMBERED = 1_000;
const FIRST_SERVED = new WeakMap<Conversations, Map<string, number>>();

const WITHOUT_SANDBOX: Readonly<Record<PreviewPort, PreviewPage>> = { app: PAGES.nothing, editor: PAGES.waiting };

/** `path`: of the request. */
export async function reachPreview(context: ReachContext, conversationId: string, port: PreviewPort, path: string): Promise<Reached> {
  const ports = (await context.conversations.get(conversationId)) && context.runtimes.ports(conversationId);
  if (!ports) return closed(WITHOUT_SANDBOX[port] ?? PAGES.asleep);
  try {
    if (port === 'app') return await reachFirst(context, conversationId, ports);
    if (port === 'editor') return await reachEditor(ports, path);
    return await connected(ports, port);
  } catch (error) {
    return closed(error instanceof NotServed && typeof port === 'number' ? notServed(port) : PAGES.asleep);
  }
}

async function reachFirst({ conversations }: ReachContext, conversationId: string, ports: SandboxPorts): Promise<Reached> {
  const remembered = FIRST_SERVED.get(conversations) ?? new Map<string, number>();
  FIRST_SERVED.set(conversations, remembered);
  const before = remembered.get(conversationId);
  if (before !== undefined) {
    try {
      return await connected(ports, before);
    } catch (error) {
      if (!(error instanceof NotServed)) throw error;
      remembered.delete(conversationId);
    }
  }
  const [first] = await ports.list({ signal: AbortSignal.timeout(CONNECT_MS) });
  if (!first) return closed(PAGES.nothing);
  const reached = await connected(ports, first.port);
  remembered.set(conversationId, first.port);
  const [oldest] = remembered.keys();
  if (remembered.size > MAX_REMEMBERED) remembered.delete(oldest!);
  return reached;
}

/** Its own page has a path with a token; `/` leads there. */
async function reachEditor(ports: SandboxPorts, path: string): Promise<Reached> {
  const waited = new AbortController();
  const tooLong = delay(EDITOR_MS, undefined, { signal: waited.signal, ref: false }).catch(() => undefined);
  const started = await Promise.race([ports.startPlugin('vscode'), tooLong]);
  waited.abort();
  if (!started) return closed(PAGES.starting);
  if (!started.ok || !started.page) return closed(PAGES.noEditor);
  // One slash: two would lead to another host.
  const page = `/${started.page.path.replace(/^[/\\]+/, '')}`;
  return path === '/' && page !== '/' ? { state: 'elsewhere', path: page } : connected(ports, started.page.port);
}

async function connected(ports: SandboxPorts, port: number): Promise<Reached> {
  return { state: 'open', target: await ports.connect(port, { signal: AbortSignal.timeout(CONNECT_MS) }) };
}

function closed(page: PreviewPage): Reached {
  return { state: 'closed', page };
}
