import type { ConversationInfo } from '@tendon/client';
import { Trash2 } from 'lucide-react';
import { Link } from 'react-router';
import { paths } from '../../lib/paths.ts';
import { IconButton } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Icon } from '../../ui/icon.tsx';
import { StateGlyph } from '../../ui/state-glyph.tsx';
import { conversationSentence } from '../../copy/conversation-sentence.ts';
import { isDemoModel } from '../../lib/demo-model.ts';
import { money } from '../../copy/counts.ts';
import { ago } from '../../copy/times.ts';

export function ConversationRow({ info, onDelete }: { readonly info: ConversationInfo; readonly onDelete: () => void }) {
  const { glyph, text, tone } = conversationSentence(info);
  return (
    <div className="conversation-row">
      <StateGlyph glyph={glyph} />
      <Link className="row-link" to={paths.conversation(info.conversation_id)}>
        {info.title}
      </Link>
      <span className="only-wide truncate text-ink-3">{info.selected_repository}</span>
      <span className={cx('only-wide truncate', tone ? `tone-${tone}` : 'text-ink-2')}>{text}</span>
      <span className="only-wide text-right text-ink-2">{costWords(info)}</span>
      <span className="row-end">
        <time className="row-time text-ink-3" dateTime={info.last_updated_at} title={info.last_updated_at}>
          {ago(info.last_updated_at, Date.now())}
        </time>
        <IconButton small className="row-act" label={`Delete ${info.title}`} onClick={onDelete}>
          <Icon of={Trash2} small />
        </IconButton>
      </span>
    </div>
  );
}

function costWords({ accumulated_cost: cost, llm_model: model }: ConversationInfo): string {
  if (isDemoModel(model)) return 'demo';
  return cost === undefined ? '' : money(cost);
}
