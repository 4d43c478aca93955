import type { ConversationInfo } from '@tendon/client';
import { Pin, PinOff, Trash2 } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { costWords } from '../../copy/cost-words.ts';
import { ago } from '../../copy/figures.ts';
import { conversationSentence } from '../../copy/state-sentence.ts';
import { paths } from '../../lib/paths.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Icon, StateGlyph } from '../../ui/icon.tsx';
import { Link } from '../../ui/link.tsx';
import { t } from '../../lib/language/text.ts';

interface ConversationRowProps {
  readonly info: ConversationInfo;
  /** Its last message asks for an answer. */
  readonly asks: boolean;
  readonly onDelete: () => void;
  /** Unset where conversations stay until somebody deletes them. */
  readonly onPin: ((isPinned: boolean) => void) | undefined;
}

export function ConversationRow({ info, asks, onDelete, onPin }: ConversationRowProps) {
  const { glyph, text, tone } = conversationSentence(info, asks);
  const cost = costWords({ cost: info.accumulated_cost, unpriced: info.unpriced_tokens, answeredBy: info.answered_by });
  return (
    <div className="conversation-row">
      <StateGlyph glyph={glyph} />
      <Link className="row-link" to={paths.conversation(info.conversation_id)}>
        {info.title}
      </Link>
      {info.selected_repository && <span className="only-wide truncate text-ink-3">{info.selected_repository}</span>}
      <span
        className={cx('only-wide truncate', !info.selected_repository && 'row-wide', tone ? `tone-${tone}` : 'text-ink-2')}
        title={text}
      >
        {text}
      </span>
      <span className="only-wide text-right text-ink-2" title={cost.title}>
        {cost.text}
        {cost.text === '–' && <span className="sr-only">{cost.title}</span>}
      </span>
      <span className="row-end">
        <time className="row-time text-ink-3" dateTime={info.last_updated_at} title={info.last_updated_at}>
          {ago(info.last_updated_at, Date.now())}
        </time>
        <span className="row-act">
          {onPin && <PinButton info={info} onPin={onPin} />}
          <IconButton small label={t('Delete {{title}}', { title: info.title })} onClick={onDelete}>
            <Icon of={Trash2} small />
          </IconButton>
        </span>
      </span>
    </div>
  );
}

/** One that is pinned is not deleted, however long nobody uses it. */
function PinButton({
  info: { title, is_pinned = false },
  onPin,
}: {
  readonly info: ConversationInfo;
  readonly onPin: (isPinned: boolean) => void;
}) {
  return (
    <IconButton small aria-pressed={is_pinned} label={t('Pin {{title}}', { title })} onClick={() => onPin(!is_pinned)}>
      <Icon of={is_pinned ? PinOff : Pin} small />
    </IconButton>
  );
}

/** In the place of the row that goes; it can be taken back while it is here. */
export function DeletedRow({ title, onUndo }: { readonly title: string; readonly onUndo: () => void }) {
  const undo = useRef<HTMLButtonElement>(null);
  // The button that had the focus is gone; this one is its heir.
  useEffect(() => undo.current?.focus(), []);
  return (
    <div className="conversation-row text-ink-2" role="status">
      <span />
      <span className="truncate">{t('Deleted “{{title}}”', { title })}</span>
      <span className="only-wide" />
      <span className="only-wide" />
      <span className="only-wide" />
      <Button ref={undo} look="line" small onClick={onUndo}>
        {t('Undo')}
      </Button>
    </div>
  );
}
