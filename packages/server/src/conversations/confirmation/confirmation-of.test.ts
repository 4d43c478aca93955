import type { Settings } from '@tendon/protocol';
import { expect, it } from 'vitest';
import type { StoredConversation } from '../conversation-records.ts';
import { confirmationOf, rulesOf, securityAnalyzers } from './confirmation-of.ts';

function mode(settings: Partial<Settings>, own?: boolean, configured = false): string {
  const record = { ...(own !== undefined && { confirmation_mode: own }) } as StoredConversation;
  return confirmationOf(record, [], settings as Settings, { ...CONFIG, confirmationMode: configured }).mode;
}

const CONFIG = { confirmationMode: true, isUnattended: false, invariantUrl: undefined };

it('TR712: the policy of the settings is the mode; without one the switch and the analyzer of frontends make it', () => {
  expect(mode({})).toBe('never');
  expect(mode({}, undefined, true)).toBe('rules');
  expect(mode({ confirmation_mode: false }, undefined, true)).toBe('never');
  expect(mode({ confirmation_mode: true, security_analyzer: null })).toBe('rules');
  expect(mode({ confirmation_mode: true, security_analyzer: 'llm' })).toBe('risk');
  expect(mode({ confirmation_mode: true, security_analyzer: 'rules' })).toBe('risk');
  expect(mode({ confirmation_mode: true, security_analyzer: 'one that is not here' })).toBe('rules');
  expect(mode({ confirmation_policy: 'always' })).toBe('always');
  expect(mode({ confirmation_policy: 'risk', confirmation_mode: false })).toBe('risk');
});

it('TR712: a conversation that was created with its own switch keeps it', () => {
  expect(mode({ confirmation_policy: 'always' }, false)).toBe('never');
  expect(mode({ confirmation_policy: 'never' }, true)).toBe('rules');
  expect(mode({ confirmation_policy: 'always' }, true)).toBe('always');
});

it('TR713: an analyzer that is listed is used by its name', () => {
  const configured = { ...CONFIG, invariantUrl: new URL('http://10.0.0.7:8000') };
  const used = (security_analyzer: string, config: Parameters<typeof confirmationOf>[3]): string =>
    confirmationOf({} as StoredConversation, [], { security_analyzer } as Settings, config).analyzer;
  expect(securityAnalyzers(CONFIG)).toEqual(['llm', 'model', 'rules']);
  expect(securityAnalyzers(configured)).toEqual(['invariant', 'llm', 'model', 'rules']);
  for (const name of securityAnalyzers(configured)) expect(used(name, configured)).toBe(name);
  expect([used('invariant', CONFIG), mode({ confirmation_mode: true, security_analyzer: 'invariant' })]).toEqual(['rules', 'rules']);
});

it('TR718: a rule of a repository opens nothing at another provider', () => {
  const allow = { decision: 'allow', command: 'make', repository: 'a/b' } as const;
  const deny = { decision: 'deny', command: 'rm', repository: 'a/b' } as const;
  const ofGitlab = { ...allow, git_provider: 'gitlab' } as const;
  const held = (git_provider: string | null) =>
    rulesOf(
      { confirmation_rules: [allow, deny, ofGitlab] } as unknown as Settings,
      { selected_repository: 'a/b', git_provider } as StoredConversation,
    );
  expect(held(null)).toEqual([allow, deny]);
  expect(held('github')).toEqual([allow, deny]);
  expect(held('gitlab')).toEqual([deny, ofGitlab]);
  expect(held('bitbucket')).toEqual([deny]);
});
