import type { Action, ConfirmationRule } from '@tendon/protocol';
import { createConfirmationPolicy, type ConfirmationSettings } from './confirmation-policy.ts';
import type { Risk } from './risk.ts';

/**
 * Whether an action that a person was asked about would have run by itself had the rules been there, and would not without them. Where
 * the shell stood then is not known any more, so a command with a relative path is never counted where a rule is about paths.
 */
export function wouldLift(action: Action, rules: readonly ConfirmationRule[], settings: ConfirmationSettings): boolean {
  const { analyzer } = settings;
  // What an analyzer that is asked made of it stands in the action.
  const isAsked = analyzer === 'model' || analyzer === 'invariant';
  const context = { folder: undefined, analyzed: isAsked ? (action.args as { readonly security_risk?: Risk }).security_risk : undefined };
  const isAllowed = (all: readonly ConfirmationRule[]): boolean =>
    createConfirmationPolicy(() => ({ ...settings, rules: all }))(action, context).decision === 'allow';
  return isAllowed([...settings.rules, ...rules]) && !isAllowed(settings.rules);
}
