/** Which models and agents clients can choose, and which model a conversation gets. */
import type { ConversationModels } from '@tendon/protocol';
import { agentNames } from '@tendon/core';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { KnownModels } from '../settings/known-models.ts';
import { chooseModel, chooseSmallModel, chosenOthers } from '../settings/model-choice.ts';
import type { ModelPorts } from './engine.ts';
import type { Foundation } from './open-stores.ts';

/** What has not answered by then is not there. */
const LOCAL_MODELS_MS = 300;

export function modelPorts(foundation: Foundation, conversations: Conversations, knownModels: KnownModels): ModelPorts {
  const { settings, config } = foundation;
  const usual = () => chooseModel({}, settings, config).model;
  return {
    agents: async () => [...agentNames(), ...(await conversations.agents.own()).map(({ name }) => name)],
    models: async () => [...new Set([...(await offeredModels()), 'demo', usual()])],
    defaultModel: usual,
    knownModels,
    modelOf: (record) => modelsFor(record, foundation).model.model,
    modelsOf: (record) => shownModels(record, foundation),
  };
}

/** The models that the next request of this conversation asks. */
export function modelsFor(record: StoredConversation, { modelKeys, settings, config }: Foundation) {
  const { model, agent, agent_file: file, delegated_by: by, other_models: others } = record;
  const llm = modelKeys.of(record);
  const choice = chooseModel({ model: file?.model ?? model, llm, others }, settings, config);
  const small = chooseSmallModel(choice, { llm, others }, settings, config);
  const looksForOther = by !== undefined && agent === 'ExploreAgent' && file === undefined;
  return { model: looksForOther && small !== choice ? { ...small, fallback: choice } : choice, small };
}

/** With who chose each of them. */
function shownModels(record: StoredConversation, foundation: Foundation): ConversationModels {
  const { settings, config } = foundation;
  const own = record.agent_file?.model ?? record.model;
  const by = own ? 'conversation' : settings.current?.llm_model ? 'settings' : 'server';
  return { model: { value: modelsFor(record, foundation).model.model, by }, ...chosenOthers(record.other_models, settings, config) };
}

/** Those of the price table, and those of model servers on this machine: offered, never chosen. */
async function offeredModels(): Promise<readonly string[]> {
  const { findLocalEndpoints, listModels } = await import('@tendon/core/llm');
  const local = await findLocalEndpoints({ fetch, signal: AbortSignal.timeout(LOCAL_MODELS_MS) });
  return [...listModels(), ...local.flatMap((endpoint) => endpoint.models)];
}
