import { isFailedStep } from './failures.ts';
import { type FoldItem, isFailure, type SpeechItem, type StepItem, type StreamItem } from './stream-item.ts';

const LEAST = 3;
const SHOWN_AT_END = 2;

/** In turns that are over, steps become one row with the agent's words before them; what a person must see stays. */
export function foldTurns(items: readonly StreamItem[], isOver: boolean): readonly StreamItem[] {
  const lastTurn = items.findLastIndex((item) => item.type === 'turn');
  const folded: StreamItem[] = [];
  let start = 0;
  for (let end = 1; end <= items.length; end += 1) {
    if (end < items.length && items[end]!.type !== 'turn') continue;
    const turn = items.slice(start, end);
    for (const item of isOver || start < lastTurn ? foldTurn(turn) : turn) folded.push(item);
    start = end;
  }
  return folded;
}

/** Its last two steps stay, its newest failure, the agent's last words, what was rejected, and its end. */
function foldTurn(turn: readonly StreamItem[]): readonly StreamItem[] {
  const lastSpeech = turn.findLastIndex((item) => item.type === 'speech');
  const newestFailure = turn.findLastIndex(isFailedStep);
  const canFold = (item: StreamItem, index: number): item is StepItem | SpeechItem =>
    item.type === 'speech' ? index !== lastSpeech : item.type === 'step' && index !== newestFailure && isPlain(item);
  const shownFrom = turn.flatMap((item, index) => (item.type === 'step' && canFold(item, index) ? [index] : [])).at(-SHOWN_AT_END) ?? 0;
  const folded: StreamItem[] = [];
  let run: (StepItem | SpeechItem)[] = [];
  const close = () => {
    // Words before a row that stays are left with it.
    const end = run.findLastIndex((row) => row.type === 'step') + 1;
    const isLong = run.filter((row) => row.type === 'step').length >= LEAST;
    if (isLong) folded.push(foldOf(run.slice(0, end)));
    for (const row of isLong ? run.slice(end) : run) folded.push(row);
    run = [];
  };
  turn.forEach((item, index) => {
    if (index < shownFrom && canFold(item, index)) run.push(item);
    else {
      close();
      folded.push(item);
    }
  });
  close();
  return folded;
}

function foldOf(rows: FoldItem['rows']): FoldItem {
  const first = rows[0]!;
  // By its last step: what is loaded above may join it.
  return { type: 'fold', key: `f${rows.at(-1)!.id}`, id: first.id, at: first.at, rows };
}

function isPlain(step: StepItem): boolean {
  const kind = step.action?.action;
  const isShown = kind === 'finish' || kind === 'reject' || step.observation?.observation === 'user_rejected';
  return !isShown && (!isFailure(step) || isFailedStep(step));
}
