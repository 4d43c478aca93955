import type { ObservationDraft } from '@tendon/protocol';

/** An action as it came over the wire: the host filled in the defaults, but nothing of it is believed. */
export interface ActionRequest {
  /** Of the effect; missing where the executor asks something of itself. */
  readonly key?: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Seconds. */
  readonly timeout?: number;
  /** Variables for this command alone. */
  readonly secrets?: Readonly<Record<string, string>>;
}

export interface HandlerContext {
  /** Fired by a cancellation; the handler still answers. */
  readonly signal: AbortSignal;
  /** Raw output as it comes, escape sequences included. */
  readonly output: (output: string | Buffer) => void;
  /** Where all of it can be read, if it is long. */
  readonly outputPath: () => string | undefined;
}

/** Carries out one kind of action. What fails is an observation; a rejection is a fault of ours. */
export type ActionHandler = (request: ActionRequest, context: HandlerContext) => Promise<ObservationDraft>;

export function textArgument(args: ActionRequest['args'], name: string): string {
  const value = args[name];
  return typeof value === 'string' ? value : '';
}

/** `true`, and the text "true" that models write. */
export function flagArgument(args: ActionRequest['args'], name: string): boolean {
  const value = args[name];
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true');
}

export function integerArgument(args: ActionRequest['args'], name: string, otherwise: number): number {
  const value = args[name];
  return typeof value === 'number' && Number.isInteger(value) ? value : otherwise;
}

/** Something the agent did wrong or that failed, as an observation of its own kind. */
export function errorObservation(content: string): ObservationDraft<'error'> {
  return { observation: 'error', content, extras: { error_id: '' } };
}

/** The message of anything thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
