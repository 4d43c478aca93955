import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  atifText,
  composeEngine,
  findServer,
  markdownText,
  systemClock,
  trajectoryLines,
  trajectoryText,
  type Config,
  type FoundServer,
} from '@tendon/server/headless';
import { printable } from '../terminal/printable.ts';

export type ExportFormat = 'json' | 'jsonl' | 'atif' | 'markdown';

/** The text of one conversation, which is there. */
interface ConversationText extends AsyncDisposable {
  read(): Readable;
}

const WRITERS = { json: trajectoryText, jsonl: trajectoryLines, atif: atifText, markdown: markdownText } as const;

/** Through the server that runs on this home, else from its store. Rejects with an Error whose message can be shown. */
export async function openExport(config: Config, conversation: string, format: ExportFormat): Promise<ConversationText> {
  const server = await findServer(config);
  const text = await (server ? throughServer(server, conversation, format) : fromStore(config, conversation, format));
  // What agents and commands wrote is looked at on a terminal sooner or later; the other formats have it as it is.
  return format === 'markdown' ? { ...text, read: () => Readable.from(inPrint(text.read())) } : text;
}

async function* inPrint(text: Readable): AsyncGenerator<string> {
  for await (const chunk of text.setEncoding('utf8') as AsyncIterable<string>) yield printable(chunk);
}

async function throughServer({ url, headers }: FoundServer, conversation: string, format: ExportFormat): Promise<ConversationText> {
  const address = `${url}/api/conversations/${encodeURIComponent(conversation)}/trajectory?format=${format}`;
  const { ok, status, body } = await fetch(address, { headers }).catch((cause: unknown) => {
    throw new Error(`The server at ${url} does not answer.`, { cause });
  });
  if (status === 404) throw missing(conversation);
  if (status === 401) throw new Error(`The server at ${url} wants a key: set SESSION_API_KEY.`);
  if (!ok || !body) throw new Error(`The server answered ${status}.`);
  return { read: () => Readable.fromWeb(body as ReadableStream), [Symbol.asyncDispose]: async () => undefined };
}

async function fromStore(config: Config, conversation: string, format: ExportFormat): Promise<ConversationText> {
  const { conversations, close } = await composeEngine(config, { clock: systemClock });
  const log = await conversations.log(conversation);
  if (!log) {
    await close();
    throw missing(conversation);
  }
  return { read: () => Readable.from(WRITERS[format](log)), [Symbol.asyncDispose]: close };
}

function missing(conversation: string): Error {
  return new Error(`There is no conversation ${conversation}.`);
}
