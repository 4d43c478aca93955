/**
 * What endpoints have shown that they can do. Owns what was learned, in memory and for all conversations; does not own how it is found out.
 *
 * Invariants
 * MT1  One model at one address is one entry: another server may offer it with more or less.
 * MT2  What was learned later counts.
 */
export interface LearnedTraits {
  /** Takes tools; undefined while nobody knows. */
  readonly tools?: boolean;
  /** Tokens, as the endpoint itself says. */
  readonly contextWindow?: number;
}

/** The entry of one model. */
export interface ModelTraits {
  readonly known: LearnedTraits;
  learn(traits: LearnedTraits): void;
}

/** More than a server meets; beyond it the oldest is learned anew. */
const MAX_ENTRIES = 1_000;

export class ModelTraitsBook {
  readonly #entries = new Map<string, LearnedTraits>();

  of({ baseUrl, modelId }: { readonly baseUrl: string; readonly modelId: string }): ModelTraits {
    const entries = this.#entries;
    const key = `${baseUrl} ${modelId}`;
    return {
      get known() {
        return entries.get(key) ?? NOTHING;
      },
      learn(traits) {
        const before = entries.get(key);
        if (!before && entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value!);
        entries.set(key, { ...before, ...traits });
      },
    };
  }
}

const NOTHING: LearnedTraits = {};
