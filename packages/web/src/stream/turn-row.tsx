import type { OutboxEntry } from '@tendon/client';
import type { ConversationState } from '@tendon/protocol/reduce';
import { UserRound } from 'lucide-react';
import { memo } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { useSendNow } from '../conversation/send-now.ts';
import { cut, firstLine } from '../copy/shorten.ts';
import { clock } from '../copy/figures.ts';
import { Button } from '../ui/button.tsx';
import { cx } from '../ui/cx.ts';
import { Icon } from '../ui/icon.tsx';
import { isInlinePicture } from '../code/picture.ts';
import type { RowPlace } from './item-row.tsx';
import type { StreamItem, TurnItem } from './stream-item.ts';
import type { Folds } from './use-folds.ts';
import { t, textKey } from '../lib/language/text.ts';

const MAX_SHOWN = 100_000;

/** A message of the person: the header of what follows. Its first line, which the rest stands below when it is opened. */
export function TurnRow(props: RowPlace & { readonly item: TurnItem; readonly folds: Folds; readonly isUnread: boolean }) {
  const { item, position, size, folds, isUnread: waits } = props;
  const [first = '', ...rest] = item.text.trim().split('\n');
  const line = cut(first, 300);
  const below = rest.join('\n').trim();
  const hasMore = rest.length > 0 || line.length > 80;
  const pictures = item.images.filter(isInlinePicture);
  const isOpen = folds.isOpen(item.key, rest.length > 0 && item.text.length < 2_000);
  return (
    <article
      className="turn"
      id={`event-${item.id}`}
      tabIndex={-1}
      aria-label={
        item.author
          ? t('Message of {{author}}, {{time}}: {{line}}', { author: item.author, time: clock(item.at), line })
          : t('Your message, {{time}}: {{line}}', { time: clock(item.at), line })
      }
      aria-posinset={position}
      aria-setsize={size}
    >
      <TurnLine
        text={hasMore && isOpen ? cut(first, MAX_SHOWN) : line}
        at={item.at}
        author={item.author}
        {...(hasMore && { onClick: () => folds.set(item.key, !isOpen), isOpen })}
      />
      {waits && <Unread />}
      {isOpen && below && <p className="turn-whole">{cut(below, MAX_SHOWN)}</p>}
      {(pictures.length > 0 || item.files.length > 0) && (
        <div className="turn-whole flex flex-wrap gap-2">
          {pictures.map((url, index) => (
            <img key={index} className="shot" src={url} alt={t('Attached {{n}}', { n: index + 1 })} />
          ))}
          {item.files.map((file) => (
            <span key={file} className="chip">
              {file}
            </span>
          ))}
        </div>
      )}
    </article>
  );
}

/** Queued, and the way past the queue. */
function Unread() {
  const { isWatched } = useConversationActs();
  const { isStopping, sendNow } = useSendNow();
  return (
    <p className="turn-whole flex items-center gap-2 text-small text-ink-3">
      {isStopping ? t('Stopping the step that runs; then the agent reads this') : t('The agent reads this after the step that runs')}
      {!isWatched && (
        <Button small aria-disabled={isStopping} title={t('Stops the step that runs')} onClick={() => void (!isStopping && sendNow())}>
          {t('Send now')}
        </Button>
      )}
    </p>
  );
}

/** Whether a step that began before the message still runs: the agent reads it with that step's result. */
export function isUnread({ agentState, pending, lastUserMessageId }: ConversationState, id: number): boolean {
  return id === lastUserMessageId && agentState === 'running' && pending.some((action) => action.source === 'agent' && action.id < id);
}

const TurnLine = memo(function TurnLine(props: {
  readonly text: string;
  readonly at: string;
  readonly author: string | undefined;
  readonly onClick?: () => void;
  readonly isOpen?: boolean;
}) {
  const { text, at, author, onClick, isOpen } = props;
  return (
    <>
      <span className="gutter self-start pt-0.5">
        <Icon of={UserRound} />
      </span>
      {onClick ? (
        <button type="button" className={cx('turn-text', !isOpen && 'truncate')} aria-expanded={isOpen} onClick={onClick}>
          {text}
        </button>
      ) : (
        <p className="turn-text truncate">{text}</p>
      )}
      {author && <span className="text-small text-ink-2">{author}</span>}
      <time className="text-small text-ink-3" dateTime={at} title={at}>
        {clock(at)}
      </time>
    </>
  );
});

/**
 * The message that what is in view belongs to, once its own row has gone above the edge, unless the title says the same. For the eye only:
 * the row itself is in the feed.
 */
export function StickyTurn(props: {
  readonly title: string;
  readonly items: readonly StreamItem[];
  readonly first: number;
  readonly isAtTop: boolean;
  readonly onGo: (index: number) => void;
}) {
  const { title, items, first, isAtTop, onGo } = props;
  let index = Math.min(first, items.length - 1);
  while (index >= 0 && items[index]!.type !== 'turn') index -= 1;
  if (index < 0 || isAtTop) return null;
  const turn = items[index] as TurnItem;
  const line = firstLine(turn.text);
  if (isSame(line, title)) return null;
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- `[` does the same
    <div className="turn-sticky" aria-hidden="true" onClick={() => onGo(index)}>
      <div className="turn">
        <TurnLine text={line} at={turn.at} author={turn.author} />
      </div>
    </div>
  );
}

/** A title is the beginning of the task until somebody, or a model, gives another one. */
function isSame(line: string, title: string): boolean {
  const { length } = title.replace(/\s*…$/, '');
  return length > 0 && line.slice(0, length) === title.slice(0, length) && (line.length === length || title.length > length);
}

const STATES = {
  waiting: textKey('Not sent yet'),
  sent: textKey('Sending'),
  unconfirmed: textKey('Not confirmed'),
} as const satisfies Record<OutboxEntry['state'], string>;

/** Sent, and not an event yet. */
export function OutboxRow({ entry }: { readonly entry: OutboxEntry }) {
  const { connection } = useConversationActs();
  return (
    <article
      className="turn unsent"
      tabIndex={-1}
      aria-label={t('Your message, not sent yet: {{content}}', { content: String(entry.payload.args.content) })}
    >
      <span className="gutter self-start pt-0.5">
        <Icon of={UserRound} />
      </span>
      <p className="turn-text truncate">{String(entry.payload.args.content)}</p>
      <span className="flex items-center gap-2 text-small text-ink-3">
        {t(STATES[entry.state])}
        {entry.state === 'unconfirmed' && connection.getSnapshot().connection.state === 'connected' && (
          <Button small onClick={() => connection.resend(entry.clientId)}>
            {t('Send again')}
          </Button>
        )}
        {entry.state !== 'sent' && (
          <Button small onClick={() => connection.cancel(entry.clientId)}>
            {t('Cancel')}
          </Button>
        )}
      </span>
    </article>
  );
}
