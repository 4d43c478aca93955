import { RequestError, type SessionConfigOption, type SessionConfigSelect } from '@agentclientprotocol/sdk';
import type { Rest } from '@tendon/client';
import { ConfirmationMode } from '@tendon/protocol';

/** The options of a session that an editor can choose, in the form of version 1 of the protocol. */
export type SessionOption = Extract<SessionConfigOption, SessionConfigSelect & { readonly type: 'select' }>;

/** As for all conversations. */
const USUAL = 'usual';

const ASKS_BEFORE: Readonly<Record<ConfirmationMode, string>> = {
  always: 'Ask about everything that may do harm',
  rules: 'Ask about what no rule allows',
  risk: 'Ask about what is risky',
  never: 'Ask only where a rule asks',
};

export async function sessionOptions(rest: Rest, id: string): Promise<SessionOption[]> {
  const [agents, models, analyzers, info, policy] = await Promise.all([
    rest.options.agents(),
    rest.models.list(),
    rest.options.securityAnalyzers(),
    rest.conversations.get(id),
    rest.conversations.confirmation(id),
  ]);
  const { mode, mode_by, analyzer, analyzer_by } = policy;
  const own = (by: string, name: string): string => (by === 'conversation' ? name : USUAL);
  const usual = (by: string, now: string): string => (by === 'conversation' ? 'As for all sessions' : `As for all sessions: ${now}`);
  const judge = select('analyzer', 'Who judges risk', own(analyzer_by, analyzer), [
    { value: USUAL, name: usual(analyzer_by, analyzer) },
    ...analyzers.map(named),
  ]);
  return [
    { ...select('agent', 'Agent', info?.agent ?? agents[0] ?? '', agents.map(named)), category: 'mode' },
    {
      ...select(
        'model',
        'Model',
        info?.llm_model ?? '',
        models.map(({ model }) => named(model)),
      ),
      category: 'model',
    },
    select('approvals', 'Approvals', own(mode_by, mode), [
      { value: USUAL, name: usual(mode_by, ASKS_BEFORE[mode]) },
      ...Object.entries(ASKS_BEFORE).map(([value, name]) => ({ value, name })),
    ]),
    ...(mode === 'risk' ? [judge] : []),
  ];
}

/** Applies to this session only, from the next turn on; the choice of what waits for a person applies at once. */
export async function chooseOption(rest: Rest, id: string, option: string, value: unknown): Promise<void> {
  try {
    await choose(rest, id, option, String(value));
  } catch (error) {
    throw error instanceof RequestError ? error : RequestError.invalidParams(undefined, (error as Error).message);
  }
}

async function choose(rest: Rest, id: string, option: string, name: string): Promise<void> {
  if (option === 'agent') await rest.conversations.choose(id, { agent: name });
  else if (option === 'model') await rest.conversations.choose(id, { llm_model: name });
  else if (option === 'analyzer') await rest.conversations.setPolicy(id, { analyzer: name === USUAL ? null : name });
  else if (option === 'approvals') {
    const mode = name === USUAL ? null : ConfirmationMode.safeParse(name).data;
    if (mode === undefined) throw RequestError.invalidParams(undefined, `approvals: ${[USUAL, ...ConfirmationMode.options].join(', ')}`);
    await rest.conversations.setPolicy(id, { policy: mode });
  } else throw RequestError.invalidParams(undefined, `there is no option ${option}`);
}

type Value = { readonly value: string; readonly name: string };

function named(value: string): Value {
  return { value, name: value };
}

/** The chosen value is always one of the values, even if no list has it. */
function select(id: string, name: string, currentValue: string, values: readonly Value[]): SessionOption {
  const all = values.some(({ value }) => value === currentValue) ? values : [named(currentValue), ...values];
  return { type: 'select', id, name, currentValue, options: [...all] };
}
