import { createContext, useContext } from 'react';
import { cx } from '../../ui/cx.ts';

/** The heading of the page. */
export const PageTitle = createContext('');

/** The heading of a section; only heard where the page has the same. */
export function SectionHeading({ id, title }: { readonly id: string; readonly title: string }) {
  return (
    <h2 id={id} className={cx(useContext(PageTitle) === title && 'sr-only')}>
      {title}
    </h2>
  );
}
