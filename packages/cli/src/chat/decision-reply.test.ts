import { expect, it } from 'vitest';
import { decisionReply } from './decision-reply.ts';

it('CL964: a decision is typed in a letter or a word; words of another kind are for the agent', () => {
  expect(decisionReply(' y ', false)).toEqual({ do: 'approve' });
  expect(decisionReply('yes', true)).toEqual({ do: 'approve' });
  expect(decisionReply('n not on a Friday', false)).toEqual({ do: 'reject', reason: 'not on a Friday' });
  expect(decisionReply('e', false)).toEqual({ do: 'edit' });
  expect(decisionReply('always', false)).toEqual({ do: 'always' });
  expect(decisionReply('use npm ci', false)).toEqual({ do: 'say', text: 'use npm ci' });
});

it('CL964: a letter approves nothing of high risk, and nothing is decided by an empty line', () => {
  expect(decisionReply('y', true)).toEqual({ do: 'ask-again' });
  expect(decisionReply('a', true)).toEqual({ do: 'ask-again' });
  expect(decisionReply('always', true)).toEqual({ do: 'always' });
  expect(decisionReply('', false)).toEqual({ do: 'ask-again' });
});
