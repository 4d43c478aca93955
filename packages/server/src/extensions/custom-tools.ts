/**
 * The tools of the user's that one conversation may call. Each call is a process of its own, as the server's user and outside every sandbox.
 *
 * CT1  A call is made once. What is not certain to have ended is reported so, and not made again.
 * CT2  Calls that may change something run one after the other; those that only read, beside all others.
 * CT3  Each turn reads the files anew: what is broken is reported once and not offered.
 */
import type { ExternalTools } from '@tendon/core';
import { ErrorObservation, McpObservation, type Action, type ObservationDraft } from '@tendon/protocol';
import { Mutex, unlessAborted } from '@tendon/protocol/async';
import type { Secret } from '@tendon/protocol/masking';
import type { InstalledTool, ToolFiles, ToolFolder } from './installed-tools.ts';
import { callTool, type ToolContext } from './tool-program.ts';

export interface CustomToolsParts {
  readonly files: Pick<ToolFiles, 'read'>;
  readonly folders: readonly ToolFolder[];
  readonly context: Omit<ToolContext, 'secrets'>;
  /** As of each call. */
  readonly secrets: () => ReadonlyMap<string, Secret>;
  /** One sentence for the clients that watch. */
  readonly onProblem: (sentence: string) => void;
}

export class CustomTools implements ExternalTools {
  readonly #parts: CustomToolsParts;
  #offers: ReadonlyMap<string, InstalledTool> | undefined;
  #first: Promise<unknown> | undefined;
  readonly #reported = new Set<string>();
  readonly #changing = new Mutex();
  readonly #closed = new AbortController();

  constructor(parts: CustomToolsParts) {
    this.#parts = parts;
  }

  async offered({ signal }: { readonly signal: AbortSignal }): ReturnType<ExternalTools['offered']> {
    const { files, folders, onProblem } = this.#parts;
    // Loading goes on without the turn: the next one finds what it has found.
    const read = await unlessAborted(files.read(folders), signal);
    if (!read) return [];
    const { tools, problems } = read;
    for (const problem of problems) {
      if (!this.#reported.has(problem)) onProblem(problem);
      this.#reported.add(problem);
    }
    this.#offers = new Map(tools.map((installed) => [installed.tool.spec.name, installed]));
    return tools.map(({ tool }) => tool);
  }

  /** Whether a call of that name is made here. */
  async has(name: string, { signal }: { readonly signal: AbortSignal }): Promise<boolean> {
    // Calls that begin at the same time stay in their order.
    if (!this.#offers) await unlessAborted((this.#first ??= this.offered({ signal: this.#closed.signal })), signal);
    return this.#offers?.has(name) ?? false;
  }

  async call(
    { args: { name, arguments: args } }: Action<'call_tool_mcp'>,
    options: { readonly signal: AbortSignal },
  ): Promise<ObservationDraft> {
    const installed = this.#offers?.get(name);
    if (!installed) return failed(`Not executed: there is no tool "${name}" any more.`);
    const signal = AbortSignal.any([options.signal, this.#closed.signal]);
    const call = (): Promise<ObservationDraft> => this.#call(installed, args, signal);
    return installed.isReadOnly ? call() : this.#changing.run(call);
  }

  close(): Promise<void> {
    this.#closed.abort();
    return Promise.resolve();
  }

  async #call(installed: InstalledTool, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ObservationDraft> {
    const { file, tool, timeoutMs, isOutside } = installed;
    const { name } = tool.spec;
    if (signal.aborted) return failed('Not executed: it was cancelled.');
    const stored = this.#parts.secrets();
    const missing = installed.secrets.find((secret) => !stored.has(secret));
    if (missing !== undefined) return failed(`Not executed: the tool "${name}" needs the secret ${missing}, which is not stored.`);
    const secrets = Object.fromEntries(installed.secrets.map((secret) => [secret, stored.get(secret)!.reveal()]));
    const result = await callTool(file, { args, context: { ...this.#parts.context, secrets }, timeoutMs, signal });
    if ('text' in result) {
      const text = result.text || 'It was executed and returned nothing.';
      return McpObservation.create(text, { name, arguments: { ...args }, ...(!isOutside && { is_own: true }) });
    }
    if (result.hasAnswered) return failed(`The tool "${name}" failed: ${result.failure}`);
    return failed(`The tool "${name}" gave no result: ${result.failure}. It may have been executed all the same.`);
  }
}

function failed(words: string): ObservationDraft {
  return ErrorObservation.create(words, { error_id: 'AGENT_ERROR$TOOL' });
}
