import { newId } from '@tendon/client';
import { useSyncExternalStore } from 'react';
import { sharedList } from '../lib/shared-list.ts';
import { t } from '../lib/language/text.ts';

/** What a person remarks on a line of the changes, until it goes to the agent. */
export interface ReviewComment {
  readonly id: string;
  readonly path: string;
  /** Of the new text, or of the old where the line is gone. */
  readonly line: number;
  readonly isOld: boolean;
  readonly quote: string;
  readonly text: string;
}

const MAX_COMMENTS = 50;
const MAX_QUOTE = 200;

const comments = sharedList<ReviewComment>((entry) => {
  const { path, line, text } = (entry ?? {}) as Partial<ReviewComment>;
  if (typeof path !== 'string' || typeof line !== 'number' || typeof text !== 'string') return undefined;
  // One of an earlier release has no id.
  return { id: `${path} ${line} ${text}`, isOld: false, quote: '', ...(entry as Partial<ReviewComment>), path, line, text };
});
const nameOf = (id: string) => `comments.${id}`;

/** They survive a reload, and all tabs have the same; another conversation has its own. */
export const reviewComments = {
  of: (id: string): readonly ReviewComment[] => comments.of(nameOf(id)),
  add(id: string, comment: Omit<ReviewComment, 'id'>): void {
    const added = { ...comment, id: newId(), quote: comment.quote.slice(0, MAX_QUOTE) };
    comments.change(nameOf(id), (all) => [...all, added].slice(-MAX_COMMENTS));
  },
  remove(id: string, ...gone: readonly ReviewComment[]): void {
    const ids = new Set(gone.map((one) => one.id));
    comments.change(nameOf(id), (all) => all.filter((one) => !ids.has(one.id)));
  },
};

export function useReviewComments(id: string): readonly ReviewComment[] {
  return useSyncExternalStore(comments.subscribe, () => reviewComments.of(id));
}

/** A message with what was remarked, each by its file and line: what the agent reads. */
export function withComments(text: string, written: readonly ReviewComment[]): string {
  if (written.length === 0) return text;
  const remarks = written.map(({ path, line, isOld, quote, text: words }) => {
    return `${path}, ${isOld ? t('removed line {{line}}', { line }) : t('line {{line}}', { line })}:\n> ${quote}\n${words}`;
  });
  return [...(text === '' ? [] : [text]), t('Comments on the changes:'), ...remarks].join('\n\n');
}
