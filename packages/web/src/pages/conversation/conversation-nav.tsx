import { useQuery } from '@tanstack/react-query';
import type { ConversationInfo } from '@tendon/client';
import { ago } from '../../copy/figures.ts';
import { conversationSentence, isRunningNow, isWaiting } from '../../copy/state-sentence.ts';
import { paths } from '../../lib/paths.ts';
import { conversationsQuery } from '../../lib/server.ts';
import { StateGlyph } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { askingOf, useQuestions } from '../inbox/use-questions.ts';
import { Link } from '../../ui/link.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const MOST = 50;

const GROUPS: readonly (readonly [PlainText, (info: ConversationInfo) => boolean])[] = [
  [textKey('Waiting for you'), isWaiting],
  [textKey('Working'), isRunningNow],
  [textKey('Others'), (info) => !isWaiting(info) && !isRunningNow(info)],
];

/** The conversations, to go from one to another: those that wait first. */
export function ConversationNav({ current }: { readonly current: string }) {
  const list = useQuery(conversationsQuery);
  const asking = askingOf(useQuestions());
  const newest = (list.data ?? []).toSorted((a, b) => b.last_updated_at.localeCompare(a.last_updated_at));
  return (
    <nav className="conversation-nav scroll" aria-label={t('Conversations')}>
      {list.isPending && <Late>{t('Loading conversations')}</Late>}
      {list.isError && (
        <p role="alert" className="text-bad">
          {list.error.message}
        </p>
      )}
      {GROUPS.map(([name, isIn]) => {
        const members = newest.filter(isIn).slice(0, MOST);
        return (
          members.length > 0 && (
            <section key={name} aria-label={t(name)}>
              <h2>{t(name)}</h2>
              <ul>
                {members.map((info) => (
                  <li key={info.conversation_id}>
                    <NavRow info={info} asks={asking.has(info.conversation_id)} isCurrent={info.conversation_id === current} />
                  </li>
                ))}
              </ul>
            </section>
          )
        );
      })}
      <Link className="option" to={paths.home}>
        {t('New task, search and all conversations')}
      </Link>
    </nav>
  );
}

interface NavRowProps {
  readonly info: ConversationInfo;
  readonly asks: boolean;
  readonly isCurrent: boolean;
}

function NavRow({ info, asks, isCurrent }: NavRowProps) {
  const { glyph, text } = conversationSentence(info, asks);
  return (
    <Link
      className="option"
      to={paths.conversation(info.conversation_id)}
      title={`${info.title}: ${text}`}
      aria-current={isCurrent ? 'page' : undefined}
    >
      <StateGlyph glyph={glyph} />
      <span className="flex-1 truncate">{info.title}</span>
      <span className="sr-only">{text}</span>
      <span className="text-small text-ink-3">{ago(info.last_updated_at, Date.now())}</span>
    </Link>
  );
}
