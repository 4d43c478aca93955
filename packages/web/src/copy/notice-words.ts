import type { NoticeKind } from '@tendon/protocol';
import { t } from '../lib/language/text.ts';

/** What a notification says of each moment, where it says no more. */
export function noticeWords(): Readonly<Record<NoticeKind, string>> {
  return {
    decision: t('Waiting for your decision'),
    question: t('Asked you something'),
    network: t('Wants to reach a host'),
    answered: t('Your turn'),
    finished: t('Done'),
    declined: t('Declined'),
    failed: t('Stopped by an error'),
  };
}
