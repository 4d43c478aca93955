import { printable } from '../terminal/printable.ts';
import type { ChatSession } from './chat-session.ts';

const EXAMPLES = 'anthropic/claude-sonnet-4-20250514, openai/gpt-4o, ollama/qwen3';

/** Asks for a model, its key and its address, stores them in the settings, and asks the model whether it answers. */
export async function setUp(session: ChatSession): Promise<void> {
  if (session.isAtWork) return session.say('The agent is at work: /setup when it has ended, or Ctrl-C first.');
  const model = (await session.asks(`Which model? As provider/name: ${EXAMPLES}`))?.trim();
  if (!model) return session.say('Nothing was changed.');
  const key = await session.asks('Its API key? It is not shown, and stored in your home; empty where it needs none', { isHidden: true });
  const address = key === undefined ? undefined : await session.asks('The address of its endpoint? Empty: the one of its provider');
  if (key === undefined || address === undefined) return session.say('Nothing was changed.');
  await session.rest.settings.patch({ llm_model: model, llm_api_key: key.trim() || null, llm_base_url: address.trim() || null });
  const id = session.connection?.conversationId;
  if (id !== undefined) await session.rest.conversations.choose(id, { llm_model: model });
  session.working(`Asking ${printable(model)}`);
  const { failure } = await session.rest.models.probe(model);
  if (failure === null) session.say(`${printable(model)} answers, and is the model from now on.`);
  else session.say(`It is stored, but ${printable(model)} did not answer: ${printable(failure)}\n/setup asks again.`);
}
