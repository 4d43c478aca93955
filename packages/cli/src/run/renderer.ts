import { reasoningText, toJson, type Event, type VolatileFrame } from '@tendon/protocol';

/** Facts about the run, known before it begins. */
export interface RunFacts {
  readonly conversationId: string;
  readonly model: string;
  /** What keeps the agent in, in words. */
  readonly sandbox: string;
  /** The folder on this machine. */
  readonly workspace: string;
}

/** Shows a run. Correctness comes from `event` alone; frames make it live. */
export interface Renderer {
  begin(facts: RunFacts): void;
  event(event: Event): void;
  frame(frame: VolatileFrame): void;
  /** A word of the program itself. */
  notice(text: string): void;
  /** `result`: of a run that came to one. */
  end(result?: { readonly exitCode: number; readonly state: string; readonly durationMs: number }): void;
}

/** Every event as a line of JSON, in the spelling of the log, but with the text of the reasoning only; nothing else on the output. */
export function createJsonRenderer(write: (text: string) => void, notify: (text: string) => void): Renderer {
  return {
    begin: () => undefined,
    event(event) {
      const { reasoning: _opaque, ...shown } = toJson(event);
      write(`${JSON.stringify({ ...shown, ...reasoningText(event) })}\n`);
    },
    frame: () => undefined,
    notice: (text) => notify(`${text}\n`),
    end: () => undefined,
  };
}
