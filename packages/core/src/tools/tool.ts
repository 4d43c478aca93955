import type { ActionDraft } from '@tendon/protocol';
import type { LlmToolSpec } from '../llm/llm-provider.ts';

/** A tool call that became an action, or the sentence that shows the model what was wrong with it. */
export type ToolCallResult = { readonly ok: true; readonly action: ActionDraft } | { readonly ok: false; readonly error: string };

/** What the model can call. Turning a call into an action is pure; executing the action is somebody else's. */
export interface Tool {
  readonly spec: LlmToolSpec;
  /** Its actions run in the sandbox. */
  readonly needsSandbox: boolean;
  /** `args` is the parsed JSON of the call; anything may be in it. */
  toAction(args: Readonly<Record<string, unknown>>): ToolCallResult;
}
