import type { Event } from '@tendon/protocol';
import { Braces } from 'lucide-react';
import { Well } from '../../code/well.tsx';
import type { Card } from './card.ts';

/** For kinds that this version does not know, and for those that are too rare for a card of their own. */
export function genericCard(name: string, detail: string, events: readonly Event[], text = ''): Card {
  const json = JSON.stringify(
    events.map((event) => ('unknown' in event ? event.raw : event)),
    null,
    2,
  );
  return {
    icon: Braces,
    object: name,
    detail,
    facts: [],
    name: `${name}, ${detail}`,
    open: 'never',
    copy: json,
    body: () => (
      <div className="flex flex-col gap-1">
        {text && <p className="text-ink-2">{text}</p>}
        <Well text={json} />
      </div>
    ),
  };
}
