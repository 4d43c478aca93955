import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bot, Cpu, ChevronDown, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { useConversation } from '../conversation/open-conversation.ts';
import { agentsQuery, conversationQuery, modelsQuery, settingsQuery, tendon, useModelInUse } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { focusOnMount, Popup } from '../ui/popup.tsx';

/** The agent of an open conversation, from its next turn on: one that only plans, or one that works. */
export function ConversationAgentChoice() {
  const { id, snapshot } = useConversation();
  const queries = useQueryClient();
  const agents = useQuery(agentsQuery);
  const settings = useQuery(settingsQuery);
  // The approval of a plan changes it too: asked again with each state.
  const key = ['conversation-agent', id];
  const info = useQuery({ ...conversationQuery(id), queryKey: [...key, snapshot.state.agentState] });
  const change = useMutation({
    mutationFn: (agent: string) => tendon.conversations.choose(id, { agent }),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  });
  const value = change.variables && change.isPending ? change.variables : (info.data?.agent ?? settings.data?.agent ?? 'CodeActAgent');
  return (
    <>
      <ChoicePopup
        label="Agent"
        side="above"
        value={value}
        shown={value.replace(/Agent$/, '')}
        options={agents.data ?? [value]}
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
  const agents = useQuery(agentsQuery);
  const settings = useQuery(settingsQuery);
  const change = useMutation({
    mutationFn: (name: string) => tendon.settings.patch({ agent: name }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  const value = settings.data?.agent || 'CodeActAgent';
  return (
    <ChoicePopup
      label="Agent"
      icon={Bot}
      value={value}
      shown={value.replace(/Agent$/, '')}
      options={agents.data ?? [value]}
      onChoose={(name) => change.mutate(name)}
    />
  );
}

/** The model of the next answer; a change is stored on the server. */
export function ModelChoice({ side, bare }: { readonly side?: 'above' | 'below'; readonly bare?: boolean }) {
  const queries = useQueryClient();
  const models = useQuery(modelsQuery);
  const model = useModelInUse();
  const change = useMutation({
    mutationFn: (name: string) => tendon.settings.patch({ llm_model: name }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  if (!model) return null;
  const options = [...new Set([model.name, ...(models.data ?? [])])];
  return (
    <ChoicePopup
      label="Model"
      {...(!bare && { icon: Cpu })}
      {...(side && { side })}
      value={model.name}
      shown={model.label}
      options={options}
      onChoose={(name) => change.mutate(name)}
    />
  );
}

const MAX_SHOWN = 50;

/** One of many names, with a filter when there are more than eight. */
function ChoicePopup(props: {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly value: string;
  readonly shown: string;
  readonly options: readonly string[];
  readonly onChoose: (value: string) => void;
  readonly side?: 'above' | 'below';
}) {
  const { label, icon, value, shown, options, onChoose, side = 'below' } = props;
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
          options={options}
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
  readonly options: readonly string[];
  readonly onChoose: (value: string) => void;
}) {
  const { label, value, options, onChoose } = props;
  const [filter, setFilter] = useState('');
  const hits = options.filter((option) => option.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      {options.length > 8 && (
        <input
          className="field mb-1 w-full"
          aria-label={`Filter ${label.toLowerCase()}`}
          placeholder="Type to filter"
          value={filter}
          ref={focusOnMount}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && hits[0]) onChoose(hits[0]);
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
      {hits.length > MAX_SHOWN && <p className="px-2 py-1 text-small text-ink-3">{hits.length - MAX_SHOWN} more, type to find them</p>}
      {hits.length === 0 && <p className="px-2 py-1 text-small text-ink-3">Nothing has this name</p>}
    </>
  );
}
