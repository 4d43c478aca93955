import { resolve } from 'node:path';
import { patchedPaths, type ObservationDraft } from '@tendon/protocol';
import { textArgument, type ActionHandler, type ActionRequest } from '../action-handler.ts';
import type { Diagnostics, EditedFile } from './diagnostics.ts';

export interface DiagnosedOptions {
  readonly workspace: string;
  readonly diagnostics: Pick<Diagnostics, 'afterEdit' | 'afterCommand'>;
  /** Nothing where there is none that can be shown. */
  readonly readText: (path: string) => Promise<string | undefined>;
}

/** The same handler of `write` or `edit`; what a language server says of the files comes behind its words. */
export function diagnosed(handler: ActionHandler, { workspace, diagnostics, readText }: DiagnosedOptions): ActionHandler {
  return async (request, context) => {
    const observation = await handler(request, context);
    const paths = changedPaths(request.args, observation).map((path) => resolve(workspace, path));
    if (paths.length === 0) return observation;
    const files = await Promise.all(paths.map(async (path): Promise<EditedFile> => ({ path, text: await readText(path) })));
    const words = await diagnostics.afterEdit(files, context.signal);
    if (words === '') return observation;
    const before = observation.content || `Wrote ${paths.join(', ')}.`;
    return { ...observation, content: `${before.trimEnd()}\n${words}` };
  };
}

/** The same handler of commands or cells. What the server asks for itself changes nothing. */
export function noticed(handler: ActionHandler, { diagnostics }: Pick<DiagnosedOptions, 'diagnostics'>): ActionHandler {
  return async (request, context) => {
    const observation = await handler(request, context);
    if (request.args.is_static !== true) diagnostics.afterCommand();
    return observation;
  };
}

function changedPaths(args: ActionRequest['args'], observation: ObservationDraft): readonly string[] {
  if (observation.observation === 'write') return [observation.extras.path];
  if (observation.observation !== 'edit' || observation.content.startsWith('ERROR:')) return [];
  const { diff, new_content, path } = observation.extras;
  if ((diff ?? null) === null && (new_content ?? null) === null) return [];
  return args.command === 'apply_patch' ? patchedPaths(textArgument(args, 'patch')) : [path];
}
