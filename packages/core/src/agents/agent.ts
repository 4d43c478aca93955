import type { Tool } from '../tools/define-tool.ts';

export interface PromptContext {
  /** Where the workspace is inside the sandbox. */
  readonly workspace: string;
}

/** Prompt + tools; the step is the same for all. */
export interface Agent {
  /** As clients know it, e.g. `CodeActAgent`. */
  readonly name: string;
  readonly tools: readonly Tool[];
  /** One clause, for those who choose among agents. */
  readonly description?: string;
  /** Its sandbox mounts the workspace read-only. */
  readonly isReadOnly?: true;
  /** Another agent has begun the conversation: the prompt of this one stands in the place of that one's. */
  readonly replaces?: true;
  /** Shown at the beginning of a conversation: that this agent stands in for one that is not known. */
  readonly notice?: string;
  /** The same text for the same context: neither date nor names, so that providers can cache it across conversations. */
  systemPrompt(context: PromptContext): string;
}
