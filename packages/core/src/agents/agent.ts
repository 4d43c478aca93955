import type { Tool } from '../tools/tool.ts';

export interface PromptContext {
  /** Where the workspace is inside the sandbox. */
  readonly workspace: string;
  /** Date for the prompt, ISO day. */
  readonly today: string;
}

/** Prompt + tools; the step is the same for all. */
export interface Agent {
  /** As clients know it, e.g. `CodeActAgent`. */
  readonly name: string;
  readonly tools: readonly Tool[];
  systemPrompt(context: PromptContext): string;
}
