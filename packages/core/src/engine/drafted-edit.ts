import type { LinesToEdit } from '@tendon/protocol/executor-api';
/**
 * `edit` with `impl_source: llm_based_edit`: its content is a draft ("… rest as before …") that a model writes out for the lines
 * it is about. The model is here and the file is in the sandbox, so the lines come out, and go back in with the version they
 * were taken from; a file that has changed meanwhile is not edited. Nothing of this is in the log but the observation, which
 * carries what the call cost.
 */
import { EditObservation, type Action } from '@tendon/protocol';
import type { ExecuteOptions, ExecuteResult, RunnableAction, Runtime } from '../sandbox/runtime.ts';
import { askAside, type Spent } from './ask-aside.ts';
import { draftRequest, linesOfAnswer } from './draft-request.ts';
import type { Engine } from './engine.ts';

export type DraftedResult = ExecuteResult & { readonly spent?: Spent };

export function needsModel(action: RunnableAction): action is Action<'edit'> {
  return action.action === 'edit' && action.args.impl_source === 'llm_based_edit';
}

/** Never rejects for the model's sake: what it does not do is reported by an observation, and the file stays as it is. */
export async function executeDraftedEdit(
  engine: Engine,
  runtime: Runtime,
  action: Action<'edit'>,
  options: ExecuteOptions,
): Promise<DraftedResult> {
  const { path, start, end, content } = action.args;
  const signal = AbortSignal.any([options.signal, engine.aborts.closing]);
  const found = await runtime.files
    .linesToEdit(path, { start, end }, { signal })
    .catch((error: unknown): LinesToEdit => ({ state: 'refused', reason: error instanceof Error ? error.message : String(error) }));
  // An action that may have been dispatched is only asked for: a cancelled one is not sent again.
  if (signal.aborted && options.isFresh !== true) return runtime.execute(action, options);
  if (signal.aborted) return { outcome: 'not-started', reason: 'it was cancelled' };
  if (found.state === 'refused') return refused(path, found.reason);
  if (found.state === 'none') return runtime.execute(action, options);
  const drafted = await askModel(engine, { path, draft: content, lines: found }, signal);
  if ('aborted' in drafted && options.isFresh !== true) return runtime.execute(action, options);
  if ('aborted' in drafted) return { outcome: 'not-started', reason: 'it was cancelled' };
  if ('failure' in drafted) return { ...refused(path, drafted.failure), ...(drafted.spent && { spent: drafted.spent }) };
  const args = { ...action.args, drafted: { text: drafted.text, version: found.version } };
  return { ...(await runtime.execute({ ...action, args }, options)), spent: drafted.spent };
}

type Drafted =
  | { readonly text: string; readonly spent: Spent }
  | { readonly failure: string; readonly spent?: Spent }
  | { readonly aborted: true };

async function askModel(engine: Engine, about: Parameters<typeof draftRequest>[0], signal: AbortSignal): Promise<Drafted> {
  const aside = await askAside(engine, draftRequest(about), signal);
  if (aside.type === 'aborted') return { aborted: true };
  if (aside.type === 'failed') return { failure: aside.why };
  const text = linesOfAnswer(aside.answer);
  const { spent } = aside;
  return text === undefined ? { failure: 'the model did not write the lines out.', spent } : { text, spent };
}

function refused(path: string, reason: string): ExecuteResult {
  const extras = { path, prev_exist: false, impl_source: 'llm_based_edit' } as const;
  return { outcome: 'observed', observation: EditObservation.create(`ERROR:\nThe file ${path} was not edited: ${reason}`, extras) };
}
