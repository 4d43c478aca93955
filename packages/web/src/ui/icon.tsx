import type { LucideIcon } from 'lucide-react';
import { cx } from './cx.ts';

export function Icon({ of: Of, small }: { readonly of: LucideIcon; readonly small?: boolean }) {
  return <Of className={cx('icon', small && 'icon-small')} aria-hidden="true" />;
}
