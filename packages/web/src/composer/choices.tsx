import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AgentState } from '@tendon/protocol';
import { Bot, Cpu, ChevronDown, type LucideIcon } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { modelLabel } from '../lib/models.ts';
import { agentsQuery, conversationQuery, modelsQuery, settingsQuery, tendon, useModelInUse } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { focusOnMount, Popup } from '../ui/popup.tsx';
import { t } from '../lib/language/text.ts';

/** The agent of an open conversation, from its next turn on: one that only plans, or one that works. */
export function ConversationAgentChoice({ agentState }: { readonly agentState: AgentState }) {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const settings = useQuery(settingsQuery);
  const info = useQuery(conversationQuery(id));
  const asked = useRef<AgentState>(undefined);
  const askAgain = useCallback(() => queries.invalidateQueries({ queryKey: conversationQuery(id).queryKey, exact: true }), [queries, id]);
  // The approval of a plan changes it too: asked again with each state. Before the log is loaded the state is `loading`.
  useEffect(() => {
    if (agentState === 'loading') return;
    if (asked.current !== undefined && asked.current !== agentState) void askAgain();
    asked.current = agentState;
  }, [agentState, askAgain]);
  const change = useMutation({
    mutationFn: (agent: string) => tendon.conversations.choose(id, { agent }),
    onSettled: askAgain,
  });
  const value = change.variables && change.isPending ? change.variables : (info.data?.agent ?? settings.data?.agent ?? 'CodeActAgent');
  return (
    <>
      <ChoicePopup
        label={t('Agent')}
        side="above"
        value={value}
        shown={value.replace(/Agent$/, '')}
        offered={agentsQuery}
        onChoose={(agent) => change.mutate(agent)}
      />
      {change.error && (
        <span role="alert" className="text-small text-bad">
          {change.error.message}
        </span>
      )}
    </>
  );
}

/** The agent that new conversations begin with. */
export function AgentChoice() {
  const queries = useQueryClient();
  const settings = useQuery(settingsQuery);
  const change = useMutation({
    mutationFn: (name: string) => tendon.settings.patch({ agent: name }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  const value = settings.data?.agent || 'CodeActAgent';
  return (
    <ChoicePopup
      label={t('Agent')}
      icon={Bot}
      value={value}
      shown={value.replace(/Agent$/, '')}
      offered={agentsQuery}
      onChoose={(name) => change.mutate(name)}
    />
  );
}

/** The model of an open conversation, from its next turn on; other conversations keep theirs. */
export function ConversationModelChoice() {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const model = useModelInUse();
  const info = useQuery(conversationQuery(id));
  const change = useMutation({
    mutationFn: (name: string) => tendon.conversations.choose(id, { llm_model: name }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['conversations'] }),
  });
  if (!model) return null;
  const value = (change.isPending ? change.variables : info.data?.llm_model) || model.name;
  return (
    <>
      <ModelPopup value={value} side="above" onChoose={(name) => change.mutate(name)} />
      {change.error && (
        <span role="alert" className="text-small text-bad">
          {change.error.message}
        </span>
      )}
    </>
  );
}

/** The model of conversations that choose none; a change is stored on the server. */
export function ModelChoice() {
  const queries = useQueryClient();
  const model = useModelInUse();
  const change = useMutation({
    mutationFn: (name: string) => tendon.settings.patch({ llm_model: name }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  return model ? <ModelPopup icon={Cpu} value={model.name} onChoose={(name) => change.mutate(name)} /> : null;
}

function ModelPopup(props: {
  readonly icon?: LucideIcon;
  readonly value: string;
  readonly side?: 'above' | 'below';
  readonly onChoose: (name: string) => void;
}) {
  const shown = modelLabel(props.value);
  return <ChoicePopup {...props} label={t('Model')} isOpenList shown={shown} offered={modelsQuery} />;
}

const MAX_SHOWN = 50;

/** The names are asked for when the popup opens: those of all models are as large as a tenth of the app. */
type Offered = typeof modelsQuery | typeof agentsQuery;

/** One of many names, with a filter when there are more than eight. */
function ChoicePopup(props: {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly value: string;
  readonly shown: string;
  readonly offered: Offered;
  readonly onChoose: (value: string) => void;
  readonly side?: 'above' | 'below';
  /** Names that are not in it are taken too. */
  readonly isOpenList?: boolean;
}) {
  const { label, icon, value, shown, offered, onChoose, side = 'below', isOpenList = false } = props;
  return (
    <Popup
      label={label}
      side={side}
      align="end"
      button={(popup) => (
        <Button look="quiet" aria-label={`${label}: ${shown}`} title={label} {...popup}>
          {icon && <Icon of={icon} small />}
          <span className="truncate">{shown}</span>
          <Icon of={ChevronDown} small />
        </Button>
      )}
    >
      {(close) => (
        <Choices
          label={label}
          value={value}
          offered={offered}
          isOpenList={isOpenList}
          onChoose={(chosen) => {
            onChoose(chosen);
            close();
          }}
        />
      )}
    </Popup>
  );
}

function Choices(props: {
  readonly label: string;
  readonly value: string;
  readonly offered: Offered;
  readonly isOpenList: boolean;
  readonly onChoose: (value: string) => void;
}) {
  const { label, value, offered, isOpenList, onChoose } = props;
  const { data: names = [] } = useQuery(offered as typeof modelsQuery);
  const options = !isOpenList && names.includes(value) ? names : [...new Set([value, ...names])];
  const [filter, setFilter] = useState('');
  const hits = options.filter((option) => option.toLowerCase().includes(filter.toLowerCase()));
  const written = isOpenList && !options.includes(filter.trim()) ? filter.trim() : '';
  return (
    <>
      {(options.length > 8 || isOpenList) && (
        <input
          className="field mb-1 w-full"
          aria-label={t('Filter {{list}}', { list: label.toLowerCase() })}
          placeholder={t('Type to filter')}
          value={filter}
          ref={focusOnMount}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            const chosen = hits[0] ?? written;
            if (event.key === 'Enter' && chosen) onChoose(chosen);
          }}
        />
      )}
      {hits.slice(0, MAX_SHOWN).map((option) => (
        <button
          key={option}
          type="button"
          className="option"
          data-current={option === value}
          aria-pressed={option === value}
          onClick={() => onChoose(option)}
        >
          {option}
        </button>
      ))}
      {hits.length > MAX_SHOWN && (
        <p className="px-2 py-1 text-small text-ink-3">{t('{{n}} more, type to find them', { n: hits.length - MAX_SHOWN })}</p>
      )}
      {written !== '' && (
        <button type="button" className="option" onClick={() => onChoose(written)}>
          {t('Use {{name}}', { name: written })}
        </button>
      )}
      {hits.length === 0 && written === '' && <p className="px-2 py-1 text-small text-ink-3">{t('No match')}</p>}
    </>
  );
}
