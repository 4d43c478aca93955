import type { Clock } from '../async/clock.ts';
import { failure } from './classify-failure.ts';
import type { LlmProvider } from './llm-provider.ts';
import { parseScript } from './script-file.ts';
import { createScriptedProvider } from './scripted-provider.ts';

/** Plays `scripted/<path>`; the file is read at the first request. */
export function createScriptFileProvider(model: string, clock: Clock): LlmProvider {
  const path = model.slice('scripted/'.length);
  let loading: Promise<LlmProvider> | undefined;
  const load = async () => {
    const { readFile } = await import('node:fs/promises');
    return createScriptedProvider(parseScript(await readFile(path, 'utf8')), { clock, model });
  };
  return {
    model,
    contextWindow: undefined,
    scripted: true,
    async *stream(request, options) {
      let provider: LlmProvider;
      try {
        provider = await (loading ??= load());
      } catch (error) {
        loading = undefined;
        yield { type: 'failed', failure: failure('LLM_FAILED', `the script ${path}: ${(error as Error).message}`, false) };
        return;
      }
      yield* provider.stream(request, options);
    },
  };
}
