import type { ObservationDraft } from '@tendon/protocol';
import { flagArgument, type HandlerContext, type Request } from '../action-handler.ts';
import { errorObservation } from '../observation.ts';
import type { HostOrder } from './browser-lines.ts';
import type { BrowserProcess } from './browser-process.ts';
import * as words from './browser-words.ts';

export type Asked =
  | { readonly state: 'answered'; readonly observation: ObservationDraft }
  /** It did not answer and must be ended; what it did is not known. */
  | { readonly state: 'lost'; readonly words: string }
  /** It had ended before the order reached it: nothing was carried out. */
  | { readonly state: 'never-taken'; readonly how: string };

const DEFAULT_TIMEOUT_SECONDS = 120;
/** What the host may take beyond the deadline of the action: it comes to rest and is looked at. */
const AFTER_MS = 75_000;
const CANCEL_MS = 10_000;

/** Has one order carried out; ends by the browser's answer, its end, or a deadline. Never rejects. */
export async function askBrowser(process: BrowserProcess, order: HostOrder, request: Request, context: HandlerContext): Promise<Asked> {
  const { signal, output } = context;
  const deadlineMs = (request.timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  const withTree = flagArgument(request.args, 'return_axtree');
  let isTaken = false;
  const asked = process.ask(order, { withTree, deadlineMs, signal, output, onTaken: () => (isTaken = true) });
  const { promise: lost, resolve: lose } = Promise.withResolvers<Asked>();
  const timers = [setTimeout(() => lose({ state: 'lost', words: words.killed('late') }), deadlineMs + AFTER_MS)];
  const onCancel = (): void => {
    timers.push(setTimeout(() => lose({ state: 'lost', words: words.killed('cancelled') }), CANCEL_MS));
  };
  if (signal.aborted) onCancel();
  else signal.addEventListener('abort', onCancel, { once: true });
  const answered = asked.then((observation): Asked => ({ state: 'answered', observation: checked(observation) }));
  const ended = process.ended.then((how): Asked =>
    isTaken ? { state: 'lost', words: words.endedMeanwhile(how) } : { state: 'never-taken', how },
  );
  const outcome = await Promise.race([answered, ended, lost]);
  signal.removeEventListener('abort', onCancel);
  for (const timer of timers) clearTimeout(timer);
  return outcome;
}

/** An answer in the shape it must have, or one that says that it has not: what runs there has met many pages. */
function checked(answer: ObservationDraft): ObservationDraft {
  const isFine = ['browse', 'download', 'error'].includes(answer?.observation) && typeof answer.content === 'string';
  return isFine ? answer : errorObservation('The browser gave an answer that cannot be used.');
}
