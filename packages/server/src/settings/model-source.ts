import type { LlmProvider } from '@tendon/core';
import type { ModelChoice } from './model-choice.ts';

/** Asked before each answer: settings changed while a task runs count from the next turn on. An unchanged choice keeps its provider. */
export function modelSource(choose: () => ModelChoice, make: (choice: ModelChoice) => Promise<LlmProvider>): () => Promise<LlmProvider> {
  let made: { readonly choice: ModelChoice; readonly provider: Promise<LlmProvider> } | undefined;
  return () => {
    const choice = choose();
    if (!made || !isSame(made.choice, choice)) made = { choice, provider: make(choice) };
    return made.provider;
  };
}

function isSame(a: ModelChoice, b: ModelChoice): boolean {
  return a.model === b.model && a.baseUrl === b.baseUrl && a.isPoliced === b.isPoliced && a.apiKey?.reveal() === b.apiKey?.reveal();
}
