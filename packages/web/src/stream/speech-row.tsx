import { Braces, Copy, Link2, TextQuote } from 'lucide-react';
import { useState } from 'react';
import { Prose } from '../code/prose.tsx';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { paths } from '../lib/paths.ts';
import { tendon } from '../lib/server.ts';
import { appendToDraft } from '../lib/stored.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import type { RowPlace } from './item-row.tsx';
import type { SpeechItem } from './stream-item.ts';
import { t } from '../lib/language/text.ts';

/** What the agent says: prose in the column, without a box. */
export function SpeechRow({ item, position, size }: RowPlace & { readonly item: SpeechItem }) {
  const [isNear, setNear] = useState(false);
  return (
    <article
      className="event"
      id={`event-${item.id}`}
      tabIndex={-1}
      aria-label={t('Agent: {{text}}', { text: item.text.slice(0, 120) })}
      aria-posinset={position}
      aria-setsize={size}
      onPointerEnter={() => setNear(true)}
      onFocus={() => setNear(true)}
    >
      <span />
      <div className="min-w-0">
        <div className="event-head speech-head">{isNear && <SpeechActs item={item} />}</div>
        <div className="speech">
          <Prose text={item.text} />
        </div>
      </div>
    </article>
  );
}

function SpeechActs({ item: { id: eventId, text } }: { readonly item: SpeechItem }) {
  const { id, show, isWatched } = useConversationActs();
  const quote = () => {
    appendToDraft(id, `${text.trim().replaceAll(/^/gm, '> ')}\n\n`);
    document.getElementById('composer')?.focus();
  };
  return (
    <div className="event-acts">
      <IconButton small label={t('Copy')} onClick={() => void navigator.clipboard.writeText(text)}>
        <Icon of={Copy} small />
      </IconButton>
      {!isWatched && (
        <IconButton small label={t('Quote in reply')} onClick={quote}>
          <Icon of={TextQuote} small />
        </IconButton>
      )}
      <IconButton
        small
        label={t('Copy link')}
        onClick={() => void navigator.clipboard.writeText(tendon.baseUrl + paths.event(id, eventId))}
      >
        <Icon of={Link2} small />
      </IconButton>
      <IconButton small label={t('View source')} onClick={() => show({ tab: 'raw', eventId })}>
        <Icon of={Braces} small />
      </IconButton>
    </div>
  );
}
