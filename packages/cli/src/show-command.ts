import { connect } from '@tendon/client';
import { fromJson, toJson, type Event } from '@tendon/protocol';
import { EXIT, type AddCommand } from './add-command.ts';
import type { HomeServer } from './attach/home-server.ts';
import { printable } from './terminal/printable.ts';
import { stateWords } from './terminal/state-words.ts';

const HELP = `
Takes an id or its first letters. Works through the server of this home when one runs, else by itself.
Exit code: 0 done, 1 it could not be done, 2 wrong usage, 130 interrupted.`;

interface Options {
  readonly json?: boolean;
  readonly home?: string;
}

export const showCommand: AddCommand = (...[program, end]) => {
  add('show', 'print the messages and actions of a conversation').action((given: string, options: Options) => print(given, options, false));
  add('tail', 'print the end of a conversation, and follow it').action((given: string, options: Options) => print(given, options, true));

  function add(name: string, description: string) {
    return program
      .command(name)
      .description(description)
      .argument('<conversation>', 'its id')
      .option('--json', 'print every event as a line of JSON')
      .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
      .addHelpText('after', HELP);
  }

  async function print(given: string, { json = false, home }: Options, follows: boolean): Promise<void> {
    const interrupted = new Promise<number>((resolve) => {
      if (follows) process.once('SIGINT', () => resolve(EXIT.interrupted));
    });
    const { findConversation, openHomeServer } = await import('./attach/home-server.ts');
    await using server = await openHomeServer(home);
    const info = await findConversation(server.rest, given);
    const show = json ? (event: Event) => void process.stdout.write(`${JSON.stringify(toJson(event))}\n`) : await storyTeller();
    if (!json)
      process.stdout.write(`${[printable(info.title), stateWords(info.agent_state), info.llm_model].filter(Boolean).join(' · ')}\n\n`);
    const events = await eventsOf(server, info.conversation_id);
    for (const event of follows ? events.slice(-TAIL) : events) show(event);
    if (!follows || !server.isShared) return end(EXIT.done);
    end(await Promise.race([interrupted, follow(server, info.conversation_id, events.at(-1)?.id ?? -1, show)]));
  }
};

/** Events that `tail` begins with. */
const TAIL = 20;

/** As `tendon run` prints them, with what the user wrote. */
async function storyTeller(): Promise<(event: Event) => void> {
  const { TextRenderer } = await import('./run/text-renderer.ts');
  const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;
  const write = (text: string) => void process.stdout.write(text);
  const renderer = new TextRenderer({ write, isLive: false, isColoured, now: () => performance.now() });
  return (event) => {
    const isMessage = 'action' in event && event.action === 'message' && event.source === 'user';
    const author = event.author && printable(event.author.name);
    if (isMessage) renderer.notice(`> ${author ? `${author}: ` : ''}${printable(event.args.content)}`);
    else if (author && 'action' in event && event.source === 'agent') renderer.notice(`decided by ${author}:`);
    renderer.event(event);
  };
}

async function eventsOf({ address: { url, key } }: HomeServer, id: string): Promise<readonly Event[]> {
  const headers: Record<string, string> = key === undefined ? {} : { 'X-Session-API-Key': key };
  const response = await fetch(`${url}/api/conversations/${id}/trajectory?format=jsonl`, { headers });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  return lines.map((line) => fromJson(JSON.parse(line) as Record<string, unknown>));
}

/** Until the user has seen enough, or there is nothing to come. */
async function follow({ rest }: HomeServer, id: string, after: number, show: (event: Event) => void): Promise<number> {
  const { followConnection } = await import('./attach/follow-connection.ts');
  const connection = connect(id, { baseUrl: rest.baseUrl, apiKey: rest.apiKey, latestEventId: after });
  return new Promise<number>((resolve) => {
    process.stdout.once('error', () => resolve(EXIT.interrupted));
    followConnection(connection, {
      event: (event) => void (event.id > after && show(event)),
      frame: () => undefined,
      ended: () => resolve(EXIT.done),
    });
  });
}
