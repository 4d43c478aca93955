import { createHash } from 'node:crypto';
import { catalogError, type CatalogError, type ConfirmationRule, type SavedRules } from '@tendon/protocol';

/** As many as a client can store. */
export const MAX_RULES = 500;

/** The name of what a rule says: it stays while other rules come and go, as a place in the list does not. */
export function ruleId(rule: ConfirmationRule): string {
  return createHash('sha256')
    .update(JSON.stringify(Object.entries(rule).toSorted()))
    .digest('hex')
    .slice(0, 16);
}

/** What says the same is listed once. */
export function savedRules(rules: readonly ConfirmationRule[]): SavedRules {
  return { rules: [...new Map(rules.map((rule) => [ruleId(rule), rule]))].map(([id, rule]) => ({ id, rule })) };
}

/** Without those that are among the first already. */
export function withRules(rules: readonly ConfirmationRule[], added: readonly ConfirmationRule[]): readonly ConfirmationRule[] {
  const known = new Set(rules.map(ruleId));
  return [...rules, ...added.filter((rule) => !known.has(ruleId(rule)))];
}

export function noSuchRule(): CatalogError {
  return { ...catalogError('NOT_FOUND'), message: 'There is no such rule: it was taken back already, or never saved.' };
}

export function tooManyRules(): CatalogError {
  return catalogError('INVALID_ARGUMENTS', `there are ${MAX_RULES} rules already; take some back`);
}
