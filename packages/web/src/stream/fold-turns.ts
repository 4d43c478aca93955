import { type FoldItem, isFailure, type StepItem, type StreamItem } from './stream-item.ts';

const LEAST = 5;
const SHOWN_AT_END = 2;

/** In turns that are over, long runs of plain steps become one row; their last two, failures and ends stay. */
export function foldTurns(items: readonly StreamItem[], isOver: boolean): readonly StreamItem[] {
  const lastTurn = items.findLastIndex((item) => item.type === 'turn');
  const folded: StreamItem[] = [];
  let run: StepItem[] = [];
  const close = () => {
    const split = run.length < LEAST ? 0 : run.length - SHOWN_AT_END;
    if (split > 0) folded.push(foldOf(run.slice(0, split)));
    folded.push(...run.slice(split));
    run = [];
  };
  items.forEach((item, index) => {
    const isDone = isOver || index < lastTurn;
    if (isDone && item.type === 'step' && isPlain(item)) run.push(item);
    else {
      close();
      folded.push(item);
    }
  });
  close();
  return folded;
}

function foldOf(steps: readonly StepItem[]): FoldItem {
  const first = steps[0]!;
  // By its last step: what is loaded above may join it.
  return { type: 'fold', key: `f${steps.at(-1)!.id}`, id: first.id, at: first.at, steps };
}

function isPlain(step: StepItem): boolean {
  const kind = step.action?.action;
  return !isFailure(step) && kind !== 'finish' && kind !== 'reject' && step.observation?.observation !== 'user_rejected';
}
