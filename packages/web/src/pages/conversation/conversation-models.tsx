import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ChosenBy, ConversationModels } from '@tendon/protocol';
import { useState } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Link } from '../../ui/link.tsx';
import { effortWords, OtherModelFields, type OtherModels } from '../settings/other-model-fields.tsx';

export const CHOSEN_BY: Readonly<Record<ChosenBy, PlainText>> = {
  conversation: textKey('chosen for this conversation'),
  settings: textKey('as the settings have it'),
  server: textKey('as the server was started'),
  nobody: textKey('nobody chose one'),
};

const keyOf = (id: string) => ['conversation-models', id];

/** What it asks from its next turn on, who chose it, and what of it is this conversation's own. */
export function ConversationModelsSection() {
  const { id } = useConversationActs();
  const { data, error } = useQuery({ queryKey: keyOf(id), queryFn: () => tendon.conversations.models(id), retry: false, staleTime: 0 });
  return (
    <section aria-label={t('Models')}>
      <h2>{t('Models')}</h2>
      {error && (
        <p role="alert" className="tone-bad">
          {error.message}
        </p>
      )}
      {data && (
        <>
          <ul aria-label={t('Models in use')}>
            <ModelRow name={t('Model')} value={data.model.value} by={data.model.by} />
            <ModelRow name={t('Effort')} value={data.effort.value && effortWords(data.effort.value)} by={data.effort.by} />
            <ModelRow name={t('Stands in')} value={data.fallback.value} by={data.fallback.by} />
            <ModelRow name={t('Small')} value={data.small.value} by={data.small.by} />
          </ul>
          <OwnModels models={data} />
        </>
      )}
      <p className="text-small">
        <Link to={paths.settingsPage('models')}>{t('Models of all conversations')}</Link>
      </p>
    </section>
  );
}

function ModelRow({ name, value, by }: { readonly name: string; readonly value: string | null; readonly by: ChosenBy }) {
  return (
    <li>
      <span className="text-ink-2">{name}</span>
      {value && <code className="truncate">{value}</code>}
      <span className="flex-1" />
      <span className="text-small text-ink-3">{t(CHOSEN_BY[by])}</span>
    </li>
  );
}

/** What of them is this conversation's alone. */
function OwnModels({ models }: { readonly models: ConversationModels }) {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const [changed, setChanged] = useState<OtherModels>();
  const save = useMutation({
    mutationFn: ({ effort, fallback, small }: OtherModels) =>
      tendon.conversations.choose(id, { llm_effort: effort, llm_fallback_model: fallback, llm_small_model: small }),
    // What was written meanwhile stays open.
    onSuccess: (_answer, sent) => setChanged((now) => (now === sent ? undefined : now)),
    onSettled: () => queries.invalidateQueries({ queryKey: keyOf(id) }),
  });
  if (!changed) {
    return (
      <Button look="line" onClick={() => setChanged(ownOf(models))}>
        {t('Change for this conversation')}
      </Button>
    );
  }
  return (
    <form
      className="setting-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!save.isPending) save.mutate(changed);
      }}
    >
      <OtherModelFields chosen={changed} onChoose={(fields) => setChanged({ ...changed, ...fields })} />
      {save.error && (
        <p role="alert" className="tone-bad">
          {save.error.message}
        </p>
      )}
      <div className="flex gap-2">
        <Button type="submit" look="line" isBusy={save.isPending}>
          {t('Save')}
        </Button>
        <Button onClick={() => setChanged(undefined)}>{t('Back')}</Button>
      </div>
    </form>
  );
}

function ownOf({ effort, fallback, small }: ConversationModels): OtherModels {
  return {
    effort: effort.by === 'conversation' ? effort.value : null,
    fallback: fallback.by === 'conversation' ? fallback.value : null,
    small: small.by === 'conversation' ? small.value : null,
  };
}
