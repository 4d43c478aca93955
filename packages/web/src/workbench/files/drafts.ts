import { useSyncExternalStore } from 'react';

/** A text that is being written. */
export interface FileDraft {
  /** What the file held when the writing began. */
  readonly base: string;
  readonly text: string;
}

const drafts = new Map<string, FileDraft>();
const listeners = new Set<() => void>();

/** What is not saved yet, for as long as the page lives: another tab or file does not lose it. */
export function useFileDraft(id: string, path: string): readonly [FileDraft | undefined, (draft: FileDraft | undefined) => void] {
  const key = `${id} ${path}`;
  const draft = useSyncExternalStore(subscribe, () => drafts.get(key));
  return [draft, (next) => set(key, next)];
}

export function useUnsaved(id: string, path: string): boolean {
  return useSyncExternalStore(subscribe, () => drafts.has(`${id} ${path}`));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function set(key: string, draft: FileDraft | undefined): void {
  if (draft === undefined || draft.text === draft.base) drafts.delete(key);
  else drafts.set(key, draft);
  for (const listener of listeners) listener();
}

// The browser's own question: what is not saved would be lost with the page.
addEventListener('beforeunload', (event) => {
  if (drafts.size > 0) event.preventDefault();
});
