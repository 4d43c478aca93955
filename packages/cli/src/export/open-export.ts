import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { findConversation, openHomeServer, type HomeServer } from '../attach/home-server.ts';
import { printable } from '../terminal/printable.ts';

export type ExportFormat = 'json' | 'jsonl' | 'atif' | 'markdown';

/** The text of one existing conversation. */
interface ConversationText extends AsyncDisposable {
  read(): Readable;
}

/** Exports the conversation with this id, or whose id begins with it. Rejects with an Error whose message can be shown. */
export async function openExport(home: string | undefined, conversation: string, format: ExportFormat): Promise<ConversationText> {
  await using opened = new AsyncDisposableStack();
  const server = opened.use(await openHomeServer(home));
  const { conversation_id: id } = await findConversation(server.rest, conversation);
  const body = await trajectory(server, `${encodeURIComponent(id)}/trajectory?format=${format}`);
  const held = opened.move();
  // Text of agents and commands is shown on a terminal sooner or later; the other formats leave it unchanged.
  const read = () => (format === 'markdown' ? Readable.from(inPrint(Readable.fromWeb(body))) : Readable.fromWeb(body));
  return { read, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

async function* inPrint(text: Readable): AsyncGenerator<string> {
  for await (const chunk of text.setEncoding('utf8') as AsyncIterable<string>) yield printable(chunk);
}

async function trajectory({ address: { url, key } }: HomeServer, path: string): Promise<ReadableStream> {
  const { ok, status, body } = await fetch(`${url}/api/conversations/${path}`, { headers: key ? { 'X-Session-API-Key': key } : {} });
  if (!ok || !body) throw new Error(`The server answered ${status}.`);
  return body as ReadableStream;
}
