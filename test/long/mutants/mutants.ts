/** What a server can do wrong without being slow, gone or refusing: each row is a server that real clients would suffer from. */
import type { Frame } from '@tendon/conformance';
import type { Mutant, Request, RestAnswer } from './mutant.ts';

const EVERY_EVENT = ['v0-socketio/every-event', 'ws-legacy/every-cursor'];

/** Spoils the events of a connection whose number, from 1 on, is a multiple of `n`. */
const everyNth = (n: number, spoil: (event: Frame) => readonly Frame[]) => () => {
  let count = 0;
  return (event: Frame): readonly Frame[] => (++count % n === 0 ? spoil(event) : [event]);
};

/** Spoils every event that fits. */
const each = (fits: (event: Frame) => boolean, spoil: (event: Frame) => Frame) => () => (event: Frame) => [
  fits(event) ? spoil(event) : event,
];

const anything = (): boolean => true;
const isRun = ({ observation }: Frame): boolean => observation === 'run';

function without(event: Frame, ...keys: readonly string[]): Frame {
  return Object.fromEntries(Object.entries(event).filter(([key]) => !keys.includes(key)));
}

/** Every `n`th event waits for the one after it and follows it. */
const swapped = (n: number) => () => {
  let count = 0;
  let held: Frame | undefined;
  return (event: Frame): readonly Frame[] => {
    const before = held;
    held = undefined;
    if (before) return [event, before];
    if (++count % n !== 0) return [event];
    held = event;
    return [];
  };
};

/** Adds to a number in the query, where it is one. */
const shifted =
  (name: string, by: number) =>
  ({ url }: Request): URL => {
    const value = Number(url.searchParams.get(name) ?? Number.NaN);
    const shiftedUrl = new URL(url);
    if (Number.isInteger(value) && value >= 0) shiftedUrl.searchParams.set(name, String(Math.max(0, value + by)));
    return shiftedUrl;
  };

const replaced =
  (name: string, value: string) =>
  ({ url }: Request): URL => {
    const other = new URL(url);
    if (other.searchParams.has(name)) other.searchParams.set(name, value);
    return other;
  };

/** Spoils the JSON of a route. */
const onRoute =
  (path: RegExp, spoil: (body: Record<string, unknown>, answer: RestAnswer) => unknown, method = 'GET') =>
  (request: Request, answer: RestAnswer): RestAnswer =>
    request.method === method && path.test(request.url.pathname) && typeof answer.body === 'object' && answer.body !== null
      ? { ...answer, body: spoil(answer.body as Record<string, unknown>, answer) }
      : answer;

const EVENTS_PAGE = /\/events$/;
const eventsIn = (body: Record<string, unknown>): readonly Frame[] => (Array.isArray(body.events) ? body.events : []);

/** The key of the server behind a mutant that is about keys. */
export const MUTANTS_KEY = 'a-key-that-guards-the-mutants';

const SOCKETS: readonly Mutant[] = [
  {
    id: 'drops-every-10th',
    fault: 'loses every tenth event on the way to a client',
    caughtBy: EVERY_EVENT,
    says: /was not sent/,
    events: everyNth(10, () => []),
  },
  {
    id: 'drops-every-50th',
    fault: 'loses one event in fifty',
    caughtBy: EVERY_EVENT,
    says: /was not sent/,
    events: everyNth(50, () => []),
  },
  {
    id: 'sends-one-twice',
    fault: 'sends every fortieth event twice',
    caughtBy: EVERY_EVENT,
    says: /2 times|twice/,
    events: everyNth(40, (event) => [event, event]),
  },
  {
    id: 'swaps-two',
    fault: 'swaps an event with the next one, every twentieth time',
    caughtBy: EVERY_EVENT,
    says: /out of order/,
    events: swapped(20),
  },
  {
    id: 'cursor-plus-one',
    fault: 'skips one event when a client comes back (`latest_event_id` + 1)',
    caughtBy: ['v0-socketio/every-cursor', 'ws-legacy/every-cursor'],
    says: /asked for what came after \d+ and was not sent \d+/,
    address: shifted('latest_event_id', 1),
  },
  {
    id: 'cursor-minus-one',
    fault: 'sends the last seen event again when a client comes back (`latest_event_id` − 1)',
    caughtBy: ['v0-socketio/every-cursor', 'ws-legacy/every-cursor'],
    says: /asked for what came after \d+ and was sent \d+ again/,
    address: shifted('latest_event_id', -1),
  },
  {
    id: 'ignores-the-cursor',
    fault: 'sends the whole history to every client that reconnects',
    caughtBy: ['v0-socketio/every-cursor', 'ws-legacy/every-cursor'],
    says: /asked for what came after \d+ and was sent [\d, ]+ again/,
    address: replaced('latest_event_id', '-1'),
  },
  {
    id: 'wrong-cause',
    fault: 'names the wrong action as the cause of every thirtieth event',
    caughtBy: EVERY_EVENT,
    says: /does not name its action as its cause/,
    events: everyNth(30, (event) => [typeof event.cause === 'number' ? { ...event, cause: event.cause + 1 } : event]),
  },
  {
    id: 'silent-policy',
    fault: 'changes the policy of a conversation without a notice in its log',
    caughtBy: ['v0-socketio/changed-policy'],
    says: /has no notice of it/,
    events: () => (event) => (typeof (event.extras as Frame | undefined)?.confirmation_policy === 'string' ? [] : [event]),
  },
  {
    id: 'no-cause',
    fault: 'leaves out the `cause` of observations',
    caughtBy: ['v0-socketio/run-event'],
    says: /observation\.cause is undefined, not number/,
    events: each(isRun, (event) => without(event, 'cause')),
  },
  {
    id: 'no-timestamp',
    fault: 'leaves out timestamps',
    caughtBy: ['v0-socketio/run-event'],
    says: /timestamp is undefined, not string/,
    events: each(anything, (event) => without(event, 'timestamp')),
  },
  {
    id: 'no-message',
    fault: 'leaves out the `message` of events',
    caughtBy: ['v0-socketio/run-event'],
    says: /message is undefined, not string/,
    events: each(anything, (event) => without(event, 'message')),
  },
  {
    id: 'exit-code-as-text',
    fault: 'sends the exit code as a text',
    caughtBy: ['v0-socketio/run-event'],
    says: /exit_code is string, not number/,
    events: each(isRun, (event) => {
      const extras = event.extras as Frame;
      const metadata = extras.metadata as Frame;
      return { ...event, extras: { ...extras, metadata: { ...metadata, exit_code: String(metadata.exit_code) } } };
    }),
  },
  {
    id: 'success-as-text',
    fault: 'sends `success` as a text',
    caughtBy: ['v0-socketio/run-event'],
    says: /success is string, not boolean/,
    events: each(isRun, (event) => ({ ...event, success: String(event.success) })),
  },
  {
    id: 'foreign-content',
    fault: 'answers every thirtieth command with the output of another',
    caughtBy: EVERY_EVENT,
    says: /was (not )?sent the observation/,
    events: everyNth(30, (event) => [isRun(event) ? { ...event, content: 'event-1' } : { ...event }]),
  },
  {
    id: 'late',
    fault: 'sends everything ten seconds late',
    caughtBy: ['v0-socketio/live'],
    says: /no live delivery of what REST already shows within 3 s/,
    delayMs: 10_000,
  },
  {
    id: 'document-numbers-as-text',
    fault: 'sends ids as texts to clients of openhands-events.md',
    caughtBy: ['events-doc/base'],
    says: /id/,
    events: each(anything, (event) => ({ ...event, id: String(event.id) })),
  },
];

/** The dialect without ids. */
const README: readonly Mutant[] = [
  {
    id: 'readme-drops',
    fault: 'loses every tenth frame on the way to a client of the READMEs',
    caughtBy: ['ws-readme/every-frame'],
    says: /was not sent/,
    events: everyNth(10, () => []),
  },
  {
    id: 'readme-twice',
    fault: 'sends every fortieth frame twice to a client of the READMEs',
    caughtBy: ['ws-readme/every-frame'],
    says: /was sent .* 2 times/,
    events: everyNth(40, (event) => [event, event]),
  },
];

const REST: readonly Mutant[] = [
  {
    id: 'lets-anybody-in',
    fault: 'takes a wrong key for the right one',
    caughtBy: ['v0-rest/key-asked-for'],
    says: /status 200, not 401 or 403/,
    headers: (headers) => ({ ...headers, 'x-session-api-key': MUTANTS_KEY }),
  },
  {
    id: 'shows-keys',
    fault: 'gives the key of the model in the clear',
    caughtBy: ['v0-rest/settings'],
    says: /the key of the model is in the answer/,
    answer: onRoute(/^\/api\/settings$/, (body) => ({ ...body, llm_api_key: 'conformance-key' })),
  },
  {
    id: 'forgets-deletions',
    fault: 'says that a conversation was deleted, and keeps it',
    caughtBy: ['v0-rest/delete'],
    says: /what was deleted can still be read/,
    address: ({ method, url }) =>
      method === 'DELETE' && /^\/api\/conversations\/[0-9a-f]{32}$/.test(url.pathname)
        ? new URL(url.pathname.replace(/.{32}$/, '0'.repeat(32)), url)
        : url,
    answer: ({ method, url }, answer) =>
      method === 'DELETE' && /^\/api\/conversations\/[0-9a-f]{32}$/.test(url.pathname) ? { status: 200, body: true } : answer,
  },

  {
    id: 'start-id-plus-one',
    fault: 'begins a page of events one too late (`start_id` + 1)',
    caughtBy: ['v0-rest/event-pages'],
    says: /the page from start_id=\d+ begins with event \d+/,
    address: shifted('start_id', 1),
  },
  {
    id: 'start-id-minus-one',
    fault: 'begins a page of events one too early (`start_id` − 1)',
    caughtBy: ['v0-rest/event-pages'],
    says: /the page from start_id=\d+ begins with event \d+/,
    address: shifted('start_id', -1),
  },
  {
    id: 'short-pages',
    fault: 'leaves the last event out of every page',
    caughtBy: ['v0-rest/event-pages'],
    says: /pages of seven|was not sent|the last page/,
    answer: onRoute(EVENTS_PAGE, (body) => ({ ...body, events: eventsIn(body).slice(0, -1) })),
  },
  {
    id: 'reverse-ignored',
    fault: 'ignores `reverse`',
    caughtBy: ['v0-rest/event-pages', 'v0-rest/events'],
    says: /the last page, backwards|strictly equal/,
    address: replaced('reverse', 'false'),
  },
  {
    id: 'never-more',
    fault: 'says that there is no more after every page of events',
    caughtBy: ['v0-rest/events'],
    says: /false !== true/,
    answer: onRoute(EVENTS_PAGE, (body) => ({ ...body, has_more: false })),
  },
  {
    id: 'has-more-as-text',
    fault: 'says `has_more` as a text',
    caughtBy: ['v0-rest/events'],
    says: /page\.has_more is string, not boolean/,
    answer: onRoute(EVENTS_PAGE, (body) => ({ ...body, has_more: String(body.has_more) })),
  },
  {
    id: 'trajectory-without-last',
    fault: 'loses one event in the middle of the trajectory',
    caughtBy: ['v0-rest/whole-trajectory'],
    says: /the trajectory was not sent/,
    answer: onRoute(/\/trajectory$/, (body) => ({ ...body, trajectory: (body.trajectory as Frame[]).toSpliced(40, 1) })),
  },
  {
    id: 'ok-for-errors',
    fault: 'answers 200 for every error',
    caughtBy: ['v0-rest/events-limit', 'v0-rest/analyzer'],
    says: /status 200, not/,
    answer: (_request, answer) => ({ ...answer, status: answer.status >= 400 ? 200 : answer.status }),
  },
  {
    id: 'next-page-ignored',
    fault: 'gives the first page of the list of conversations, whatever page is asked for',
    caughtBy: ['v0-rest/pages'],
    says: /times on the pages/,
    address: replaced('page_id', ''),
  },
  {
    id: 'list-without-title',
    fault: 'leaves the title out of the list of conversations',
    caughtBy: ['v0-rest/info'],
    says: /title is undefined/,
    answer: onRoute(/^\/api\/conversations$/, (body) => ({
      ...body,
      results: (body.results as Frame[] | undefined)?.map((each_) => without(each_, 'title')),
    })),
  },
];

export const MUTANTS: readonly Mutant[] = [...SOCKETS, ...README, ...REST];
