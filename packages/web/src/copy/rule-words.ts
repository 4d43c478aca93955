import type { ConfirmationRule } from '@tendon/protocol';

/** What the rule is about, without its decision. */
export function ruleWords({ command, path, host, tool }: ConfirmationRule): string {
  return [tool, command, path, host].filter(Boolean).join(' ');
}
