import { useSyncExternalStore } from 'react';

/** The agent's terminal, as far as this page has it. What shows it is loaded with it, and gives itself here. */
export interface TakenTerminal {
  readonly id: string;
  /** Absent until it is shown. */
  readonly session?: { readonly giveBack: () => void; readonly close: () => void };
  /** Why the page has it no more; absent while it does. */
  readonly ended?: string;
}

let taken: TakenTerminal | undefined;
const listeners = new Set<() => void>();

export function setTaken(next: TakenTerminal | undefined): void {
  taken = next;
  for (const listener of listeners) listener();
}

export function takeTerminal(id: string): void {
  taken?.session?.close();
  setTaken({ id });
}

/** The page shows another conversation: the agent waits some seconds for it to come back. */
export function leaveTerminal(id: string): void {
  if (taken?.id !== id) return;
  taken.session?.close();
  setTaken(undefined);
}

/** The one of this conversation. */
export function takenTerminal(id: string): TakenTerminal | undefined {
  return taken?.id === id ? taken : undefined;
}

export function useTaken(id: string): TakenTerminal | undefined {
  return useSyncExternalStore(subscribe, () => takenTerminal(id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
