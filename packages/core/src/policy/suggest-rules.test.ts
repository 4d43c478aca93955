import { CallToolMcpAction, EditAction, RunAction, RunIpythonAction } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { ALLOWED, ASKED, DENIED } from './commands.test-support.ts';
import { createConfirmationPolicy } from './confirmation-policy.ts';
import { suggestRules } from './suggest-rules.ts';

describe('TR717: what is suggested allows the action, and names no more than its programs and files', () => {
  it.each<[string, readonly string[]]>([
    ['git push origin main', ['git push']],
    ['git -C x status -s && npm run build', ['git status', 'npm run build']],
    ['ls -la | wc -l', ['ls', 'wc']],
    ['echo hi', ['echo']],
    ['cat a > /workspace/b', ['cat', '/workspace/b']],
    ['cat a > b', []],
    ['python -c 1', []],
    ['ls $x', []],
    ['', []],
  ])('TR717: %s', (command, expected) => {
    expect(suggestRules(RunAction.create({ command })).map((rule) => rule.command ?? rule.path)).toEqual(expected);
  });

  it('TR717: with the suggested rules the same action runs', () => {
    const actions = [
      ...[...ALLOWED, ...ASKED, ...DENIED].map((command) => RunAction.create({ command })),
      RunIpythonAction.create({ code: '1' }),
      CallToolMcpAction.create({ name: 'fetch', arguments: {} }),
      EditAction.create({ command: 'create', path: '/workspace/a', file_text: '' }),
      EditAction.create({
        command: 'apply_patch',
        path: '/workspace/a',
        patch: '*** Add File: /workspace/a\n+x\n*** Add File: /etc/b\n+y',
      }),
    ];
    for (const action of actions) {
      const rules = suggestRules(action);
      const policy = createConfirmationPolicy(() => ({ mode: 'rules', rules, analyzer: 'rules' }));
      expect([action.args, policy(action, { folder: '/workspace' }).decision]).toEqual([action.args, rules.length > 0 ? 'allow' : 'ask']);
    }
  });
});
