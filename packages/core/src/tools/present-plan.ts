import { isAction, MessageAction, type Event } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

/** The user's answer with which the agent that only plans gives way to the one that carries the plan out. */
const PLAN_APPROVAL = 'Carry out this plan';
const CHOICES = [PLAN_APPROVAL, 'Change the plan'];

/** A message that waits: every client shows it, and those that know choices make buttons of them. */
export const presentPlan = defineTool({
  name: 'present_plan',
  description: 'Show the user your plan and wait for their decision. Files can be changed once they have approved it.',
  needsSandbox: false,
  parameters: z.object({
    plan: z.string().min(1).describe('Markdown: what changes in which files, in which order, how it is checked, what is still open.'),
  }),
  toAction: ({ plan }) =>
    MessageAction.create({
      content: `${plan}\n\n${CHOICES.map((choice, index) => `${index + 1}. ${choice}`).join('\n')}`,
      wait_for_response: true,
      choices: CHOICES,
    }),
});

/** Whether a message of the user approves the plan that was presented last, by its words or by its number. */
export function isPlanApproval(events: readonly Event[], message: string): boolean {
  const last = events.findLast((event) => isAction(event) && event.action === 'message');
  const asks = last?.source === 'agent' && isAction(last) && last.action === 'message' && last.args.choices?.[0] === PLAN_APPROVAL;
  const words = message.trim().replace(/[.!]$/, '').toLowerCase();
  return asks && (words === '1' || words === PLAN_APPROVAL.toLowerCase());
}
