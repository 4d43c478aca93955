import { z } from 'zod';

/** What the engine needs to know of an action kind; dispatch reads this, never the kind's name. */
export interface ActionTraits {
  /** Who answers it: the executor, the engine itself, or nobody. */
  readonly answeredBy: 'runtime' | 'core' | 'none';
  /** May change the sandbox or the world; `false` is a promise. */
  readonly mutating: boolean;
  /** Held back in confirmation mode until a person decides. */
  readonly confirmable: boolean;
}

export interface ActionDefinition<K extends string, A extends z.ZodType> {
  readonly kind: K;
  readonly args: A;
  readonly traits: ActionTraits;
  /** The friendly text of old chat logs. */
  readonly message: (args: z.output<A>) => string;
  /** A draft with every default filled in. Throws ZodError on wrong arguments: they are the caller's error. */
  readonly create: (args: z.input<A>) => { readonly action: K; readonly args: z.output<A> } & Parsed;
}

export interface ObservationDefinition<K extends string, X extends z.ZodType> {
  readonly kind: K;
  readonly extras: X;
  readonly message: (extras: z.output<X>, content: string) => string;
  readonly create: (
    content: string,
    extras: z.input<X>,
  ) => { readonly observation: K; readonly content: string; readonly extras: z.output<X> };
}

/**
 * Unknown arguments are retained (looseObject): a newer client's additions survive the round trip. The schema is made when the first
 * value of its kind is parsed: making those of all kinds takes some 10 ms of every start.
 */
export function defineAction<K extends string, S extends z.core.$ZodLooseShape>(definition: {
  kind: K;
  args: () => S;
  traits?: Partial<ActionTraits>;
  message: (args: z.output<z.ZodObject<S, z.core.$loose>>) => string;
}): ActionDefinition<K, z.ZodObject<S, z.core.$loose>> {
  let schema: z.ZodObject<S, z.core.$loose> | undefined;
  return {
    kind: definition.kind,
    get args() {
      return (schema ??= z.looseObject(definition.args()));
    },
    traits: { answeredBy: 'none', mutating: false, confirmable: false, ...definition.traits },
    message: definition.message,
    create(input) {
      return asParsed({ action: definition.kind, args: this.args.parse(input) });
    },
  };
}

export function defineObservation<K extends string, S extends z.core.$ZodLooseShape>(definition: {
  kind: K;
  extras: () => S;
  message: (extras: z.output<z.ZodObject<S, z.core.$loose>>, content: string) => string;
}): ObservationDefinition<K, z.ZodObject<S, z.core.$loose>> {
  let schema: z.ZodObject<S, z.core.$loose> | undefined;
  return {
    kind: definition.kind,
    get extras() {
      return (schema ??= z.looseObject(definition.extras()));
    },
    message: definition.message,
    create(content, input) {
      return { observation: definition.kind, content, extras: this.extras.parse(input) };
    },
  };
}

/** −1 unknown, 0 low, 1 medium, 2 high. `null` of `openhands-events.md` reads as unknown. */
export const securityRisk = z
  .preprocess((value) => value ?? -1, z.union([z.literal(-1), z.literal(0), z.literal(1), z.literal(2)]))
  .default(-1);
export const confirmationState = z.enum(['confirmed', 'rejected', 'awaiting_confirmation']).default('confirmed');
export const thought = z.string().default('');
/** Inputs and outputs of agents: any JSON object. */
export const outputs = z.record(z.string(), z.unknown()).default({});

declare const parsed: unique symbol;

/** The mark of what has been parsed with its schema; it exists in types alone. */
export type Parsed = { readonly [parsed]: true };

/** For the two places that parse an action: the decoder of frames and the constructors of kinds. */
export function asParsed<T extends object>(value: T): T & Parsed {
  return value as T & Parsed;
}
