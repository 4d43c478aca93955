import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { readLines } from '@tendon/protocol/node';
import type { ShellInput, ShellOutput, ShellSize } from '@tendon/protocol/executor-api';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { catalogError, takeOverAction } from '@tendon/protocol';
import type { Audit } from '../audit/audit.ts';
import { needOfSocket } from '../platform/auth/access-table.ts';
import type { Principal } from '../platform/auth/identify.ts';
import { admit } from '../platform/http/admit.ts';
import { workspaceOf, wordsOf, type WorkspaceContext } from '../sandboxes/workspace-of.ts';
import { endWithAccess, type RealtimeContext } from './realtime-context.ts';
import { expectLife, plainWire, queryOf, refuseUpgrade } from './serve-plain-ws.ts';
import { servedSockets, webSocketServer, type ServedSockets } from './web-socket-server.ts';
import type { Wire } from './wire.ts';

type ShellContext = RealtimeContext & WorkspaceContext & { readonly audit: Audit | undefined };

const MAX_FRAME_BYTES = 128 * 1024;
const MAX_UNSENT_BYTES = 256 * 1024;
const MAX_LINE = 1024 * 1024;
const OPEN_MS = 10_000;
const Size = z.coerce.number().int().min(1).max(1000);
const Input = z.object({ input: z.string().max(64 * 1024), columns: Size, rows: Size, give_back: z.literal(true) }).partial();

/**
 * `/shell?conversation_id=…&columns=…&rows=…`: a person's own shell in the sandbox of a conversation, beside the agent's. Text frames
 * `{input}` and `{columns, rows}` lead to it, `{output}` comes from it, and `{ended}` is the last. It ends with the socket, and after
 * `idleMs` without a key: a sandbox with a shell in it does not go to rest. Nothing of it is an event.
 *
 * With `&take_over=true` it is the agent's own shell: the person takes it over, unless it is taken over already, which is an action in the
 * log; `{give_back: true}` ends that. A socket that ends without it may come back for a while.
 */
export function serveShell(http: Server, context: ShellContext, idleMs: number): ServedSockets {
  const sockets = new (webSocketServer(context.timeouts))({ noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.url?.split('?', 1)[0] !== '/shell') return;
    const query = queryOf(request);
    const id = query.get('conversation_id') ?? undefined;
    const access = admit(context, request, { need: needOfSocket('/shell', id), conversation: id, isSocket: true });
    if (!access.ok) return refuseUpgrade(socket, access.error);
    const size = z.object({ columns: Size, rows: Size }).safeParse({ columns: query.get('columns') ?? 80, rows: query.get('rows') ?? 24 });
    const takesOver = query.get('take_over') === 'true';
    if (id === undefined) return refuseUpgrade(socket, catalogError('CONVERSATION_NOT_FOUND', ''));
    if (!size.success) return refuseUpgrade(socket, catalogError('INVALID_ARGUMENTS', 'columns and rows are numbers from 1 to 1000'));
    sockets.handleUpgrade(request, socket, head, (opened) => {
      // Keys that are struck before the shell is there wait for it.
      opened.pause();
      void converse(opened, { id, size: size.data, takesOver, principal: access.principal, idleMs }, context);
    });
  });
  return servedSockets(sockets);
}

interface Asked {
  readonly id: string;
  readonly size: ShellSize;
  readonly takesOver: boolean;
  readonly principal: Principal;
  readonly idleMs: number;
}

async function converse(socket: WebSocket, asked: Asked, context: ShellContext): Promise<void> {
  const wire = plainWire(socket);
  void endWithAccess(asked.principal, wire);
  context.metrics.connected('shell', wire.closed);
  socket.on('error', (cause) => context.logger.debug({ err: cause }, 'a socket failed'));
  let shell: Duplex | undefined;
  try {
    shell = await openShell(asked, context);
    wire.closed.addEventListener('abort', () => shell?.destroy(), { once: true });
    if (wire.closed.aborted) return void shell.destroy();
    void endWhenHidden(asked, wire, context);
    listen(socket, wire, shell, asked, context);
    socket.resume();
    void expectLife(socket, wire, context);
    await passOn(shell, wire);
  } catch (cause) {
    end(wire, { code: null, reason: wordsOf(cause) });
  }
  shell?.destroy();
  wire.close('the shell has ended');
}

/** Who sees the conversation no more has no shell in it. */
async function endWhenHidden({ principal, id }: Asked, wire: Wire, { conversations }: ShellContext): Promise<void> {
  await conversations.visibility.hidden(principal, id, wire.closed);
  if (!wire.closed.aborted) wire.close(catalogError('CONVERSATION_NOT_FOUND', id).message);
}

/** Starts the sandbox if need be. Rejects with words for the person. */
async function openShell({ id, size, takesOver, principal }: Asked, context: ShellContext): Promise<Duplex> {
  if (!(await context.conversations.visibility.sees(principal, id))) throw new Error(catalogError('CONVERSATION_NOT_FOUND', id).message);
  const workspace = await workspaceOf(context, id);
  if ('code' in workspace) throw new Error(workspace.message);
  if (takesOver) await takeOver(context, id, principal);
  else await context.audit?.record({ by: principal, action: 'terminal.opened', target: id });
  const ports = context.runtimes.ports(id);
  if (!ports) throw new Error('the sandbox has ended');
  const signal = AbortSignal.timeout(OPEN_MS);
  const shell = await (takesOver ? ports.openAgentShell({ signal }) : ports.openShell({ signal }));
  shell.on('error', () => shell.destroy());
  write(shell, size);
  return shell;
}

/** Another page of the person may have done so already. */
async function takeOver({ conversations }: ShellContext, id: string, by: Principal): Promise<void> {
  const taken = await conversations.submit(id, takeOverAction(), { by });
  if (!taken.ok && taken.error.code !== 'ILLEGAL_STATE') throw new Error(taken.error.message);
}

function write(shell: Duplex, line: ShellInput): boolean {
  return shell.write(`${JSON.stringify(line)}\n`);
}

/** What the person does. A frame that is none ends the socket. */
function listen(socket: WebSocket, wire: Wire, shell: Duplex, { idleMs }: Asked, { clock }: ShellContext): void {
  let lastAt = clock.now().getTime();
  socket.on('message', (data: Buffer, isBinary) => {
    const frame = isBinary ? undefined : Input.safeParse(parsed(data)).data;
    if (frame === undefined) return wire.close('a frame is {input} or {columns, rows}');
    lastAt = clock.now().getTime();
    const { input, columns, rows, give_back: giveBack } = frame;
    const line = { ...(input !== undefined && { input }), ...(columns && rows && { columns, rows }), ...(giveBack && { giveBack }) };
    if (shell.destroyed || write(shell, line)) return;
    socket.pause();
    shell.once('drain', () => socket.resume());
  });
  const watch = async (): Promise<void> => {
    for (let rest = idleMs; rest > 0; rest = lastAt + idleMs - clock.now().getTime()) await clock.sleep(rest, { signal: wire.closed });
    end(wire, { code: null, reason: `nobody has typed for ${Math.round(idleMs / 60_000)} minutes` });
    wire.close('idle');
  };
  watch().catch(() => undefined); // It is over.
}

function parsed(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** A client that does not read makes the programs in the shell wait. */
async function passOn(shell: Duplex, wire: Wire): Promise<void> {
  for await (const line of readLines(shell, { maxLine: MAX_LINE, maxTotal: Number.MAX_SAFE_INTEGER })) {
    const { output, ended } = JSON.parse(line) as ShellOutput;
    if (typeof output === 'string') wire.send({ output });
    if (ended) return end(wire, ended);
    await wire.unsent.drained(MAX_UNSENT_BYTES);
  }
  end(wire, { code: null, reason: 'the sandbox has ended' });
}

function end(wire: Wire, ended: NonNullable<ShellOutput['ended']>): void {
  wire.send({ ended });
}
