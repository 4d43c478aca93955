/**
 * How much of a view a condensation takes away, in three tiers: long results of old calls, pictures, whole entries. Pure: what a
 * condensation in the log does to entries is the same now and when the view is made again.
 */
import type { CallEntry, CallResult, CallsEntry, Cleared, ViewEntry } from './entry.ts';

const CHARS_PER_TOKEN = 4;
/** Near what vendors count for one. */
const TOKENS_OF_PICTURE = 1_500;

/** An estimate: vendors count differently, and only shares of it are used. */
export function tokensOf(entries: readonly ViewEntry[]): number {
  return entries.reduce((sum, entry) => sum + tokensOfEntry(entry), 0);
}

function tokensOfEntry(entry: ViewEntry): number {
  const reasoning = (entry.reasoning?.parts ?? []).reduce((sum, { text }) => sum + text.length, 0);
  const own = tokensOfText(entry.text.length + reasoning);
  if (entry.type === 'text') return own + tokensOfPictures(entry);
  return entry.calls.reduce((sum, { call, result }) => sum + tokensOfText(call.arguments.length) + tokensOfResult(result), own);
}

function tokensOfResult(result: CallResult | undefined): number {
  return result ? tokensOfText(result.text.length) + tokensOfPictures(result) : 0;
}

function tokensOfPictures({ imageUrls = [] }: { readonly imageUrls?: readonly string[] }): number {
  return imageUrls.length * TOKENS_OF_PICTURE;
}

function tokensOfText(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** Pictures in results that stay. */
const KEPT_PICTURES = 3;
/** So many in a request are too many: taking them out one by one would change the beginning of every request. */
export const MANY_PICTURES = 12;
/** Shorter results cost less than the change of what the vendor has cached. */
const LONG_RESULT_CHARS = 400;
const CLEARED = '[This result is old and was taken out to save space. If you need it, make the call again.]';
const PICTURES_CLEARED = '[Its pictures are old and were taken out.]';

/** The entries without the long results of calls up to an event, and with the newest pictures alone. */
export function cleared(entries: readonly ViewEntry[], until: number): ViewEntry[] {
  let pictures = picturesIn(entries);
  return entries.map((entry) => {
    if (entry.type === 'text') return entry;
    const calls = entry.calls.map((call): CallEntry => {
      const { result } = call;
      if (!result) return call;
      const isOld = pictures > KEPT_PICTURES;
      pictures -= result.imageUrls?.length ?? 0;
      const what = whatToClear(result, {
        takesPictures: isOld && result.imageUrls !== undefined,
        takesText: isLong(result) && result.eventId <= until,
      });
      return what ? { ...call, result: withoutCleared(result, what) } : call;
    });
    return calls.every((call, index) => call === entry.calls[index]) ? entry : { ...entry, calls };
  });
}

/** An earlier clearing stays. */
function whatToClear({ cleared: before }: CallResult, takes: { takesPictures: boolean; takesText: boolean }): Cleared | undefined {
  if (!takes.takesPictures && !takes.takesText) return undefined;
  const text = takes.takesText || (before?.startsWith('text') ?? false);
  const pictures = takes.takesPictures || (before?.endsWith('pictures') ?? false);
  if (text && pictures) return 'text and pictures';
  return text ? 'text' : 'pictures';
}

export function withoutCleared(result: CallResult, what: Cleared): CallResult {
  const { imageUrls, file, ...rest } = result;
  if (what === 'pictures') return { ...rest, ...(file && { file }), text: `${rest.text}\n${PICTURES_CLEARED}`, cleared: what };
  return { ...rest, ...(what === 'text' && imageUrls && { imageUrls }), text: CLEARED, cleared: what };
}

function isLong({ text, cleared: before }: CallResult): boolean {
  return text.length > LONG_RESULT_CHARS && !before?.startsWith('text');
}

function picturesIn(entries: readonly ViewEntry[]): number {
  const results = entries.flatMap((entry) => (entry.type === 'calls' ? entry.calls : [])).map(({ result }) => result);
  return results.reduce((sum, result) => sum + (result?.imageUrls?.length ?? 0), 0);
}

/** A clearing that frees less is not worth what it costs: nothing of the request that follows it is cached. */
const WORTH_CLEARING = 0.2;
/** Of what is shown, the newest share that is never cleared or forgotten. */
const NEWEST = 1 / 3;
const MAX_NEWEST_TOKENS = 20_000;

/** The last event whose result is cleared; nothing when too little would be gained. */
export function clearable(entries: readonly ViewEntry[]): number | undefined {
  const until = endOfOld(entries);
  if (until === undefined) return undefined;
  if (picturesIn(entries) >= MANY_PICTURES) return until;
  const all = tokensOf(entries);
  return tokensOf(cleared(entries, until)) <= (1 - WORTH_CLEARING) * all ? until : undefined;
}

/** Fewer entries are not worth a summary. */
const MIN_FORGOTTEN = 2;

/** The last event that is forgotten; nothing when too little would be gained. */
export function forgettable(entries: readonly ViewEntry[]): number | undefined {
  const end = endOfOld(entries);
  if (end === undefined) return undefined;
  const gone = entries.filter((entry) => !isPinned(entry) && lastIdOf(entry) <= end);
  return gone.length < MIN_FORGOTTEN ? undefined : end;
}

/** The last event before the entries that stay as they are. */
function endOfOld(entries: readonly ViewEntry[]): number | undefined {
  const stays = newest(entries);
  return stays.length === 0 ? undefined : firstIdOf(stays) - 1;
}

/** At least one entry, where there is one that is not pinned. */
function newest(entries: readonly ViewEntry[]): readonly ViewEntry[] {
  const unpinned = entries.filter((entry) => !isPinned(entry));
  const budget = Math.min(MAX_NEWEST_TOKENS, tokensOf(unpinned) * NEWEST);
  let tokens = 0;
  const from = unpinned.findLastIndex((entry) => (tokens += tokensOfEntry(entry)) > budget);
  return unpinned.slice(Math.min(from + 1, Math.max(0, unpinned.length - 1)));
}

function isPinned(entry: ViewEntry): boolean {
  return entry.type === 'text' && (entry.pinned || entry.isSummary === true);
}

/** Ids only grow in a view but for late results, which have ids of their own. */
function firstIdOf(entries: readonly ViewEntry[]): number {
  return Math.min(...entries.map((entry) => (entry.type === 'text' ? entry.eventId : Math.min(entry.openedBy, ...idsOfCalls(entry)))));
}

/** A confirmed action is in the log twice, and forgotten with its second event. */
function lastIdOf(entry: ViewEntry): number {
  return entry.type === 'text' ? entry.eventId : Math.max(entry.openedBy, ...idsOfCalls(entry));
}

function idsOfCalls({ calls }: CallsEntry): readonly number[] {
  return calls.flatMap(({ eventIds }) => eventIds);
}
