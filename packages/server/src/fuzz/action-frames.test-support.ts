/** Actions of every kind there is, with arguments that nearly are what their definition says. */
import * as fc from 'fast-check';
import { z } from 'zod';
import { ACTIONS } from '@tendon/protocol';
import { arbitraryOf, type Schema } from './arbitrary-of-schema.test-support.ts';

export type ActionKind = keyof typeof ACTIONS;

export const ACTION_KINDS = Object.keys(ACTIONS) as readonly ActionKind[];

export function actionFrame(kind: ActionKind): fc.Arbitrary<{ readonly action: ActionKind; readonly args: unknown }> {
  const schema = z.toJSONSchema(ACTIONS[kind].args, { io: 'input', unrepresentable: 'any' }) as Schema;
  return fc.record({ action: fc.constant(kind), args: arbitraryOf(schema) });
}
