import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import { Late } from '../../ui/placeholder.tsx';
import { SectionHeading } from './section-heading.tsx';
import { t } from '../../lib/language/text.ts';

interface ListSectionProps<T> {
  readonly title: string;
  readonly about: string;
  readonly list: UseQueryResult<readonly T[]>;
  /** Shown when the list is empty. */
  readonly none: string;
  /** The error of an action on the list. */
  readonly problem?: Error | null;
  readonly children: (item: T) => ReactNode;
  readonly after?: ReactNode;
}

/** A list of the settings under its heading, with a message while it is loading, empty or refused. */
export function ListSection<T>({ title, about, list, none, problem, children, after }: ListSectionProps<T>) {
  const heading = useId();
  const error = problem ?? list.error;
  return (
    <section className="setting" aria-labelledby={heading}>
      <SectionHeading id={heading} title={title} />
      <p className="text-ink-2">{about}</p>
      {error && (
        <p role="alert" className="tone-bad">
          {error.message}
        </p>
      )}
      {list.isPending && <Late>{t('Reading the list')}</Late>}
      {list.data?.length === 0 && <p className="text-ink-2">{none}</p>}
      {list.data && list.data.length > 0 && <ul aria-label={title}>{list.data.map(children)}</ul>}
      {after}
    </section>
  );
}
