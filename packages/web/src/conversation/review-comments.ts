import { useSyncExternalStore } from 'react';
import { stored } from '../lib/stored.ts';
import { t } from '../lib/language/text.ts';

/** What a person remarks on a line of the changes, until it goes to the agent. */
export interface ReviewComment {
  readonly path: string;
  /** Of the new text, or of the old where the line is gone. */
  readonly line: number;
  readonly isOld: boolean;
  readonly quote: string;
  readonly text: string;
}

const NONE: readonly ReviewComment[] = [];
const MAX_COMMENTS = 50;
const MAX_QUOTE = 200;
const known = new Map<string, readonly ReviewComment[]>();
const listeners = new Set<() => void>();

/** They survive a reload; another conversation has its own. */
export const reviewComments = {
  of(id: string): readonly ReviewComment[] {
    const found = known.get(id) ?? read(id);
    known.set(id, found);
    return found;
  },
  add(id: string, comment: ReviewComment): void {
    save(id, [...reviewComments.of(id), { ...comment, quote: comment.quote.slice(0, MAX_QUOTE) }].slice(-MAX_COMMENTS));
  },
  remove(id: string, comment: ReviewComment): void {
    save(
      id,
      reviewComments.of(id).filter((one) => one !== comment),
    );
  },
  clear: (id: string): void => save(id, NONE),
};

export function useReviewComments(id: string): readonly ReviewComment[] {
  return useSyncExternalStore(subscribe, () => reviewComments.of(id));
}

/** A message with what was remarked, each by its file and line: what the agent reads. */
export function withComments(text: string, comments: readonly ReviewComment[]): string {
  if (comments.length === 0) return text;
  const remarks = comments.map(({ path, line, isOld, quote, text: words }) => {
    return `${path}, ${isOld ? t('removed line {{line}}', { line }) : t('line {{line}}', { line })}:\n> ${quote}\n${words}`;
  });
  return [...(text === '' ? [] : [text]), t('Comments on the changes:'), ...remarks].join('\n\n');
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function save(id: string, comments: readonly ReviewComment[]): void {
  known.set(id, comments);
  stored.set(`comments.${id}`, comments.length === 0 ? null : JSON.stringify(comments));
  for (const listener of listeners) listener();
}

function read(id: string): readonly ReviewComment[] {
  try {
    const found = JSON.parse(stored.get(`comments.${id}`) ?? '[]') as readonly ReviewComment[];
    return Array.isArray(found) && found.length > 0 ? found : NONE;
  } catch {
    return NONE;
  }
}
