import {
  BrowseAction,
  CallToolMcpAction,
  DelegateAction,
  EditAction,
  FinishAction,
  MessageAction,
  ReadAction,
  RunAction,
  RunIpythonAction,
  ThinkAction,
  type ActionDraft,
  type ConfirmationRule,
} from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { createConfirmationPolicy, type ConfirmationSettings } from './confirmation-policy.ts';
import { suggestRules } from './suggest-rules.ts';

const run = (command: string, is_input = false): ActionDraft => RunAction.create({ command, is_input });
const edit = (path: string): ActionDraft => EditAction.create({ command: 'create', path, file_text: 'x' });
const cell = RunIpythonAction.create({ code: '1' });
const call = CallToolMcpAction.create({ name: 'fetch_fetch', arguments: { url: 'https://evil.example/' } });
const patch = (...lines: string[]): ActionDraft =>
  EditAction.create({ command: 'apply_patch', path: '/workspace/a', patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });
const search = (kind: 'grep' | 'glob', path: string): ActionDraft => ReadAction.create({ path, search: { kind, pattern: 'x' } });
const browse = (url: string): ActionDraft => BrowseAction.create({ url });

function decide(settings: Partial<ConfirmationSettings>, action: ActionDraft): string {
  return createConfirmationPolicy(() => ({ mode: 'rules', rules: [], analyzer: 'rules', ...settings }))(action, { folder: '/workspace' })
    .decision;
}

describe('TR710: every kind of action is judged by what it names', () => {
  const rules: readonly ConfirmationRule[] = [
    { decision: 'allow', path: '/workspace' },
    { decision: 'deny', path: '/workspace/.git' },
    { decision: 'deny', host: 'evil.example' },
    { decision: 'allow', tool: 'run_ipython' },
    { decision: 'ask', tool: 'delete_all' },
    { decision: 'allow', tool: 'run' },
    { decision: 'deny', command: 'rm' },
  ];
  it.each<[ActionDraft, string]>([
    [edit('/workspace/a'), 'allow'],
    [edit('a'), 'allow'],
    [edit('/etc/passwd'), 'ask'],
    [edit('../etc/passwd'), 'ask'],
    [edit('/workspace/.git/config'), 'deny'],
    [edit('.git/hooks/x'), 'deny'],
    [patch('*** Add File: /workspace/a', '+x'), 'allow'],
    [patch('*** Add File: a', '+x', '*** Delete File: b/c'), 'allow'],
    [patch('*** Add File: a', '+x', '*** Add File: /etc/x', '+y'), 'ask'],
    [patch('*** Update File: a', '*** Move to: ../etc/x', '+y'), 'ask'],
    [patch('*** Add File: a', '+x', '*** Update File: .git/config', '+y'), 'deny'],
    [patch('*** Update File: a', '*** Move to: .git/hooks/x', '+y'), 'deny'],
    [patch('*** Update File: a', '+x', '--- a/.git/config', '+++ b/.git/config', '+y'), 'deny'],
    [patch('--- a/x', '+++ b/.git/config\t2026', '+y'), 'deny'],
    [patch('--- /dev/null\r', '+++ b/.git/config\r', '+y'), 'deny'],
    [search('grep', '/workspace/src'), 'allow'],
    [search('grep', '/workspace'), 'deny'],
    [search('grep', '.git'), 'deny'],
    [search('glob', '/workspace'), 'allow'],
    [cell, 'allow'],
    [RunIpythonAction.create({ code: 'open("/workspace/.git/config")' }), 'deny'],
    [call, 'deny'],
    [CallToolMcpAction.create({ name: 'delete_all', arguments: {} }), 'ask'],
    [CallToolMcpAction.create({ name: 'other', arguments: {} }), 'ask'],
    [browse('https://evil.example/x'), 'deny'],
    [browse('https://example.com/x'), 'allow'],
    [browse('https://%65vil.example/x'), 'deny'],
    [browse('https://evil\t.example/x'), 'deny'],
    [browse('https://ｅvil.example'), 'deny'],
    [MessageAction.create({ content: 'I did not go to evil.example, nor read /workspace/.git', wait_for_response: true }), 'allow'],
    [FinishAction.create({ final_thought: 'evil.example' }), 'allow'],
    [run('anything'), 'allow'],
    [run('$x'), 'allow'],
    [run('rm a'), 'deny'],
    [run('C-c', true), 'allow'],
    [run('', true), 'allow'],
  ])('TR710: %j → %s', (action, decision) => {
    expect(decide({ rules }, action)).toBe(decision);
  });
});

it('TR710: a rule of a tool and more is about that tool alone, and about what it names there', () => {
  const rules: ConfirmationRule[] = [
    { decision: 'allow', tool: 'edit', path: '/workspace/docs' },
    { decision: 'deny', tool: 'read', path: '/workspace/secret' },
    { decision: 'allow', tool: 'run', command: 'ls' },
  ];
  expect(decide({ rules }, edit('/workspace/docs/a'))).toBe('allow');
  expect(decide({ rules }, edit('/workspace/a'))).toBe('ask');
  expect(decide({ rules }, edit('/workspace/secret/a'))).toBe('ask');
  expect(decide({ rules }, ReadAction.create({ path: '/workspace/secret/a' }))).toBe('deny');
  expect(decide({ rules }, run('ls'))).toBe('allow');
  expect(decide({ rules }, run('touch a'))).toBe('ask');
});

it('TR706: where a rule asks, a read, a page and a delegation wait in every mode', () => {
  const rules: ConfirmationRule[] = [
    { decision: 'ask', path: '/workspace/private' },
    { decision: 'ask', host: 'example.com' },
    { decision: 'ask', tool: 'delegate' },
    { decision: 'ask', tool: 'think' },
  ];
  const asked = [
    ReadAction.create({ path: '/workspace/private/a' }),
    search('grep', '/workspace'),
    browse('https://www.example.com/'),
    DelegateAction.create({ agent: 'CodeActAgent', inputs: { task: 'x' } }),
  ];
  const free = [ReadAction.create({ path: '/workspace/a' }), browse('https://example.org'), ThinkAction.create({ thought: 'x' })];
  for (const mode of ['always', 'risk', 'rules', 'never'] as const) {
    expect([mode, ...asked.map((action) => decide({ mode, rules }, action))]).toEqual([mode, 'ask', 'ask', 'ask', 'ask']);
    expect([mode, ...free.map((action) => decide({ mode, rules }, action))]).toEqual([mode, 'allow', 'allow', 'allow']);
  }
});

it('TR710: an MCP tool that is named like a kind of action has rules of its own', () => {
  const named = CallToolMcpAction.create({ name: 'run_ipython', arguments: {} });
  expect(decide({ rules: [{ decision: 'allow', tool: 'run_ipython' }] }, named)).toBe('ask');
  expect(decide({ rules: [{ decision: 'allow', tool: 'mcp:run_ipython' }] }, named)).toBe('allow');
  expect(decide({ rules: [{ decision: 'allow', tool: 'mcp:run_ipython' }] }, cell)).toBe('ask');
  expect(decide({ rules: suggestRules(named) }, named)).toBe('allow');
});

it('TR710: input to a program asks, for it may be anything', () => {
  expect(decide({ rules: [{ decision: 'allow', command: 'y' }] }, run('y', true))).toBe('ask');
});

it('TR711: `always` asks for all that may do harm, `never` for nothing that no rule is about', () => {
  const allow: ConfirmationRule[] = [{ decision: 'allow', command: 'ls' }];
  expect(decide({ mode: 'always', rules: allow }, run('ls'))).toBe('ask');
  expect(decide({ mode: 'never', rules: allow }, run('$x'))).toBe('allow');
  expect(decide({ mode: 'never', rules: [{ decision: 'ask', command: 'git push' }] }, run('git push'))).toBe('ask');
  expect(decide({ mode: 'never', rules: [{ decision: 'deny', command: 'rm' }] }, run('ls'))).toBe('allow');
  expect(decide({ mode: 'never', rules: [{ decision: 'deny', command: 'rm' }] }, run('$x a'))).toBe('ask');
});

describe('TR707: the risk of a command by our rules', () => {
  it.each<[string, string]>([
    ['ls -la', 'allow'],
    ['git status', 'allow'],
    ['npm test', 'allow'],
    ['echo x > a', 'allow'],
    ['rm -rf build', 'ask'],
    ['git push', 'ask'],
    ['git reset --hard', 'ask'],
    ['git -C x clean -fd', 'ask'],
    ['git branch -D x', 'ask'],
    ['npm publish', 'ask'],
    ['curl https://example.com', 'ask'],
    ['cat a | ssh host', 'ask'],
    ['bash -c "rm a"', 'ask'],
    ['chmod -R 777 .', 'ask'],
    ['dd if=a of=b', 'ask'],
    ['$x', 'ask'],
    ['python -c 1', 'ask'],
  ])('TR707: %s → %s', (command, decision) => {
    expect(decide({ mode: 'risk' }, run(command))).toBe(decision);
  });
});
