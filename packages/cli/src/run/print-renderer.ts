import type { Event } from '@tendon/protocol';
import { wordsOf } from '../terminal/agent-words.ts';
import { printable } from '../terminal/printable.ts';
import type { Renderer, RunFacts } from './renderer.ts';

/** What a run came to, for programs. */
export interface RunResult {
  readonly exitCode: number;
  /** The state of the agent at its end; empty where it has none. */
  readonly state: string;
  readonly durationMs: number;
}

interface PrintOptions {
  /** One object at the end, in place of the answer. */
  readonly json: boolean;
  readonly write: (text: string) => void;
  /** The answer as a person reads it, in place of its own characters. */
  readonly styled?: ((answer: string) => string) | undefined;
  /** The progress is seen where the answer goes, so the answer was seen. */
  readonly isSeen?: boolean;
  /** Shows how it goes, on another output. */
  readonly progress: Renderer;
}

/** The answer alone on the output, when it is there; everything else is progress. */
export class PrintRenderer implements Renderer {
  readonly #options: PrintOptions;
  #facts: RunFacts | undefined;
  #answer = '';
  #cost: number | null = null;

  constructor(options: PrintOptions) {
    this.#options = options;
  }

  begin(facts: RunFacts): void {
    this.#facts = facts;
    this.#options.progress.begin(facts);
  }

  event(event: Event): void {
    if ('action' in event) this.#answer = wordsOf(event) ?? this.#answer;
    if ('llm_metrics' in event && event.llm_metrics) this.#cost = event.llm_metrics.accumulated_cost;
    this.#options.progress.event(event);
  }

  frame(frame: Parameters<Renderer['frame']>[0]): void {
    this.#options.progress.frame(frame);
  }

  notice(text: string): void {
    this.#options.progress.notice(text);
  }

  end(result?: RunResult): void {
    this.#options.progress.end();
    if (!result) return;
    const { json, write, isSeen = false, styled = (answer: string) => answer } = this.#options;
    if (json) write(`${JSON.stringify(this.#result(result))}\n`);
    else if (!isSeen && result.exitCode === 0 && this.#answer.trim() !== '') write(`${styled(printable(this.#answer).trim())}\n`);
  }

  #result({ exitCode, state, durationMs }: RunResult): object {
    return {
      conversation_id: this.#facts?.conversationId ?? null,
      model: this.#facts?.model ?? null,
      answer: this.#answer,
      state,
      exit_code: exitCode,
      cost_usd: this.#cost,
      duration_ms: Math.round(durationMs),
    };
  }
}
