import { useQuery } from '@tanstack/react-query';
import type { ConversationInfo } from '@tendon/client';
import { useState } from 'react';
import { useConversationActs, useFact } from '../../conversation/open-conversation.ts';
import { costWords } from '../../copy/cost-words.ts';
import { conversationSentence } from '../../copy/state-sentence.ts';
import { cut } from '../../copy/shorten.ts';
import { paths } from '../../lib/paths.ts';
import { conversationQuery, conversationsQuery, tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { StateGlyph } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { Link } from '../../ui/link.tsx';
import { t, textKey } from '../../lib/language/text.ts';

/** Conversations that go on from this one, and the one and the others that it goes on from: attempts at the same work. */
export function Attempts() {
  const { id } = useConversationActs();
  const agentState = useFact(({ state }) => state.agentState);
  const own = useQuery(conversationQuery(id)).data ?? undefined;
  const { data: all = [] } = useQuery(conversationsQuery);
  const [compared, setCompared] = useState<string>();
  const origin = own?.forked_from?.conversation_id;
  const others = all.filter(
    ({ conversation_id: other, forked_from: from }) =>
      other !== id && (other === origin || from?.conversation_id === id || (origin !== undefined && from?.conversation_id === origin)),
  );
  if (!own || others.length === 0) return null;
  const other = others.find(({ conversation_id: which }) => which === compared);
  return (
    <section aria-labelledby="attempts-heading">
      <h2 id="attempts-heading">{t('Other attempts')}</h2>
      <ul aria-label={t('Other attempts')}>
        {others.map((info) => (
          <li key={info.conversation_id} className="moment">
            <StateGlyph glyph={conversationSentence(info).glyph} />
            <Link className="flex-1 truncate" to={paths.conversation(info.conversation_id)}>
              {info.title}
            </Link>
            <span className="text-small text-ink-3">{info.conversation_id === origin ? t('the first one') : t('went on from here')}</span>
            <Button
              small
              look="line"
              aria-pressed={info.conversation_id === compared}
              aria-label={t('Compare with {{title}}', { title: info.title })}
              onClick={() => setCompared(info.conversation_id === compared ? undefined : info.conversation_id)}
            >
              {t('Compare')}
            </Button>
          </li>
        ))}
      </ul>
      {other && <Comparison left={{ ...own, agent_state: agentState }} right={other} />}
    </section>
  );
}

/** Two attempts side by side: how they ended, what they cost and changed, and their last words. */
function Comparison({ left, right }: { readonly left: ConversationInfo; readonly right: ConversationInfo }) {
  const facts = [useFacts(left), useFacts(right)];
  const rows = [textKey('State'), textKey('Cost'), textKey('Files changed'), textKey('Last words')] as const;
  return (
    <table className="comparison">
      <caption className="sr-only">{t('Two attempts')}</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">{t('This one')}</th>
          <th scope="col">{right.title}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            <th scope="row">{t(row)}</th>
            {facts.map((of, index) => (
              <td key={index}>{of[row] ?? <Late>{t('Reading')}</Late>}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const MOST_NAMES = 12;

function useFacts(known: ConversationInfo) {
  const { conversation_id: id, agent_state: state } = known;
  // What the list says may be older than what is compared.
  const { data: read } = useQuery({
    queryKey: ['attempt', id, state, known.last_updated_at],
    queryFn: ({ signal }) => tendon.conversations.get(id, signal),
    retry: false,
    staleTime: 0,
  });
  const info = { ...(read ?? known), agent_state: state };
  const used = info.last_updated_at;
  const changes = useQuery({
    queryKey: ['attempt-changes', id, used],
    queryFn: async () => {
      const found = await tendon.files.changes(id);
      const names = found.slice(0, MOST_NAMES).map(({ path }) => path);
      const more = found.length - names.length;
      const listed = more > 0 ? t('{{names}} and {{more}} more', { names: names.join(', '), more }) : names.join(', ');
      return [t('{{count}} files', { count: found.length }), listed].filter(Boolean).join(': ');
    },
    retry: false,
  });
  const words = useQuery({
    queryKey: ['attempt-words', id, used],
    queryFn: async ({ signal }) => {
      const query = { include_types: 'message,finish', source: 'agent', reverse: 'true', limit: 1 };
      const { args = {} } = ((await tendon.conversations.events(id, query, signal)).events[0] ?? {}) as { readonly args?: LastWords };
      return cut(args.final_thought || args.content || t('None yet'), 1_000);
    },
    retry: false,
  });
  const cost = costWords({ cost: info.accumulated_cost, unpriced: info.unpriced_tokens, answeredBy: info.answered_by });
  return {
    State: conversationSentence(info).text,
    Cost: cost.title ?? (cost.text || t('not known')),
    'Files changed': changes.error ? t('not known: no git, or it could not be asked') : changes.data,
    'Last words': words.error?.message ?? words.data,
  };
}

interface LastWords {
  readonly content?: string;
  readonly final_thought?: string;
}
