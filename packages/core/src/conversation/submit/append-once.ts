/**
 * Appends a client's action unless the log has it: a client that did not receive the answer sends the action again under the same
 * `client_id`, and is answered with the stored event. One id for two different actions is refused, so that neither is lost.
 */
import { catalogError, isAction, type ActionDraft, type CatalogError } from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import type { LoopPorts } from '../../engine/ports.ts';
import type { SubmitResult } from '../conversation.ts';
import type { EngineState } from '../../engine/engine-state.ts';

type AppendPorts = Pick<LoopPorts, 'log' | 'folded' | 'mask'>;
type Decision = (state: EngineState) => readonly SourcedDraft[] | CatalogError;

/** The earlier answer to `action` when it is sent again; undefined when it is new. */
export async function answerAgain(ports: AppendPorts, action: ActionDraft): Promise<SubmitResult | undefined> {
  const known = ports.folded.state.sent.find(({ clientId }) => clientId === action.client_id);
  return known && again(ports, action, known.id);
}

/** The first draft of the decision is the client's action; it gets the client's id and author. So does what a person decided about get the author. */
export async function appendOnce(ports: AppendPorts, action: ActionDraft, decide: Decision): Promise<SubmitResult> {
  const { client_id, author } = action;
  let known: number | undefined;
  let refusal = catalogError('INTERNAL');
  const [event] = await ports.folded.tryAppend((state) => {
    known = state.sent.find(({ clientId }) => clientId === client_id)?.id;
    const decision = known === undefined ? decide(state) : [];
    if (!('code' in decision)) {
      const own = { ...(client_id !== undefined && { client_id }), ...(author && { author }) };
      return decision.map((draft, at) => (at === 0 ? { ...draft, ...own } : author && isDecided(draft) ? { ...draft, author } : draft));
    }
    refusal = decision;
    return [];
  });
  if (known !== undefined) return again(ports, action, known);
  return event ? { ok: true, event } : { ok: false, error: refusal };
}

/** The action that a person confirmed or rejected, as it is added again. */
function isDecided(draft: SourcedDraft): boolean {
  return isAction(draft) && 'confirmation_state' in draft.args && /^(?:confirmed|rejected)$/.test(String(draft.args.confirmation_state));
}

async function again(ports: AppendPorts, action: ActionDraft, id: number): Promise<SubmitResult> {
  const [event] = await ports.log.read({ from: id, limit: 1 });
  const given = ports.mask.draft({ ...action, source: 'user' }) as ActionDraft;
  if (event && isAction(event) && gist(event) === gist(given)) return { ok: true, event, isRepeated: true };
  return { ok: false, error: catalogError('CLIENT_ID_REUSED', action.client_id) };
}

/** The request itself, the same for a client's action and for its event, as JSON with sorted keys. */
function gist(action: ActionDraft): string {
  const inOrder = (_key: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).toSorted()) : value;
  return JSON.stringify(essence(action), inOrder);
}

function essence(action: ActionDraft): unknown {
  switch (action.action) {
    case 'start':
      return ['message', action.args.task, null, null];
    case 'message':
      return ['message', action.args.content, action.args.image_urls, action.args.file_urls];
    case 'pause':
      return 'paused';
    case 'resume':
      return 'running';
    case 'stop':
      return 'stopped';
    case 'finish':
      return 'finished';
    case 'change_agent_state':
      return action.args.agent_state;
    case 'restore_checkpoint':
      return ['restore_checkpoint', action.args.checkpoint, action.args.what];
    default:
      return [action.action, action.args];
  }
}
