import { ACTIONS, type ActionDraft } from '@tendon/protocol';

/** Whether a person must agree before an action of the agent runs. */
export interface ConfirmationPolicy {
  readonly name: string;
  /** Pure; asked once, before the action is appended. */
  needsConfirmation(action: ActionDraft): boolean;
}

export const neverConfirm: ConfirmationPolicy = { name: 'never', needsConfirmation: () => false };

/** Confirmation mode: everything whose kind says that it can do harm. */
export const alwaysConfirm: ConfirmationPolicy = {
  name: 'always',
  needsConfirmation: ({ action }) => ACTIONS[action].traits.confirmable,
};
