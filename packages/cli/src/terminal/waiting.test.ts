import { RunAction, type Action } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { whyWords } from './waiting.ts';

it('CL964: a risk is shown once, with a reason that says more', () => {
  const why = (security_risk: number, confirmation_reason?: string) =>
    whyWords({ ...RunAction.create({ command: 'ls', security_risk }), confirmation_reason } as unknown as Action);
  expect(why(2, 'the risk is high')).toBe('high risk');
  expect(why(2, 'no rule allows `git`')).toBe('high risk, no rule allows `git`');
  expect(why(-1, 'the risk is high')).toBe('the risk is high');
});
