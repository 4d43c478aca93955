import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeActAgent, withOptionalTools } from '../agents/code-act-agent.ts';
import { parseToolCall } from './parse-tool-call.ts';

const call = (name: string, args: unknown) =>
  parseToolCall({ id: 'c', name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }, codeActAgent.tools);
const errorOf = (name: string, args: unknown) => {
  const result = call(name, args);
  return result.ok ? undefined : result.error;
};

it('EN50: a wrong argument is named to the model', () => {
  expect(errorOf('execute_bash', {})).toContain('required parameter "command" is missing');
  expect(errorOf('execute_bash', { command: 7 })).toContain('parameter "command" is wrong');
  expect(errorOf('execute_bash', { command: 'ls', timeout: -1 })).toContain('parameter "timeout" is wrong');
  expect(errorOf('str_replace_editor', { command: 'create', path: '/a' })).toContain('"create" needs the parameter "file_text"');
  expect(errorOf('str_replace_editor', { command: 'insert', path: '/a', new_str: 'x' })).toContain('"insert_line"');
  expect(errorOf('str_replace_editor', { command: 'delete', path: '/a' })).toContain('parameter "command" is wrong');
});

it('EN51: an unknown tool is answered with the ones there are', () => {
  expect(errorOf('rm', {})).toBe(
    'There is no tool "rm". The available tools are: execute_bash, execute_ipython_cell, str_replace_editor, browser, web_read, task_tracker, ask_user, grep, glob, recall, note, think, finish, reject.',
  );
});

it('EN52: arguments that are not the JSON of an object never become an action', () => {
  for (const text of ['{"command": "rm -rf', '[]', '"ls"', 'null', 'ls'])
    expect(errorOf('execute_bash', text)).toContain('not a JSON object');
});

it('EN53: numbers and booleans written as text are taken', () => {
  expect(call('execute_bash', { command: '', is_input: 'true', timeout: '30', security_risk: 'sometimes' })).toMatchObject({
    action: { action: 'run', timeout: 30, args: { is_input: true, blocking: true, security_risk: -1 } },
  });
  expect(call('str_replace_editor', { command: 'view', path: '/a', view_range: ['1', -1], old_str: null })).toMatchObject({
    action: { action: 'read', args: { path: '/a', view_range: [1, -1], impl_source: 'oh_aci' } },
  });
});

it('EN54: the editor’s commands become the actions old clients know', () => {
  expect(call('str_replace_editor', { command: 'str_replace', path: '/a', old_str: 'x' })).toMatchObject({
    action: { action: 'edit', args: { command: 'str_replace', path: '/a', old_str: 'x', new_str: null, impl_source: 'oh_aci' } },
  });
  expect(call('str_replace_editor', { command: 'undo_edit', path: '/a' })).toMatchObject({
    action: { action: 'edit', args: { command: 'undo_edit' } },
  });
});

it('EN56: a cell is a call of its own, and an empty one waits', () => {
  expect(call('execute_ipython_cell', { code: 'print(1)', timeout: '5' })).toMatchObject({
    action: { action: 'run_ipython', timeout: 5, args: { code: 'print(1)', include_extra: true, security_risk: -1 } },
  });
  expect(call('execute_ipython_cell', { code: '' })).toMatchObject({ ok: true });
  expect(errorOf('execute_ipython_cell', {})).toContain('required parameter "code" is missing');
});

it('RT170: pages are used and read by calls of their own; the tree of the page comes back', () => {
  expect(call('browser', { code: 'goto("http://localhost:3000")' })).toMatchObject({
    action: {
      action: 'browse_interactive',
      args: { browser_actions: 'goto("http://localhost:3000")', return_axtree: true, security_risk: -1 },
    },
  });
  expect(call('web_read', { url: 'https://example.org', security_risk: 'LOW' })).toMatchObject({
    action: { action: 'browse', args: { url: 'https://example.org', return_axtree: false, security_risk: 0 } },
  });
  expect(errorOf('web_read', {})).toContain('required parameter "url" is missing');
});

it('EN760: a plan is saved whole, and what is wrong with it is named', () => {
  expect(
    call('task_tracker', {
      command: 'plan',
      task_list: [
        { id: 7, title: 'a' },
        { title: 'b', status: 'done' },
      ],
    }),
  ).toMatchObject({
    action: {
      action: 'task_tracking',
      args: {
        command: 'plan',
        task_list: [
          { id: '7', title: 'a', status: 'todo', notes: '' },
          { id: '2', title: 'b', status: 'done', notes: '' },
        ],
      },
    },
  });
  expect(errorOf('task_tracker', { command: 'plan' })).toContain('needs the parameter "task_list"');
  expect(errorOf('task_tracker', { command: 'plan', task_list: [{ id: '2', title: 'a' }, { title: 'b' }] })).toContain(
    '"2" is there twice',
  );
  expect(errorOf('task_tracker', { command: 'plan', task_list: [{ title: 'a', status: 'later' }] })).toContain('task_list.0.status');
});

it('EN763: searching is a read action, below the workspace where no path is given', () => {
  expect(call('grep', { pattern: 'x+', include: '*.ts' })).toMatchObject({
    action: { action: 'read', args: { path: '.', search: { kind: 'grep', pattern: 'x+', include: '*.ts' } } },
  });
  expect(call('glob', { pattern: '*.md', path: '/workspace/docs' })).toMatchObject({
    action: { action: 'read', args: { path: '/workspace/docs', search: { kind: 'glob', pattern: '*.md' } } },
  });
  expect(errorOf('grep', { pattern: '' })).toContain('parameter "pattern" is wrong');
});

it('EN764: several edits and patches are edit actions; a patch names its first file', () => {
  const { tools } = withOptionalTools(codeActAgent, ['multi_edit', 'apply_patch']);
  const asked = (name: string, args: object) => parseToolCall({ id: 'c', name, arguments: JSON.stringify(args) }, tools);
  const edits = [{ old_str: 'a', new_str: '' }];
  expect(asked('multi_edit', { path: '/a', edits })).toMatchObject({ action: { action: 'edit', args: { command: 'multi_edit', edits } } });
  expect(asked('multi_edit', { path: '/a', edits: [{ old_str: '' }] })).toMatchObject({ ok: false });
  for (const head of ['*** Begin Patch\n*** Update File: src/a.py', '--- a/src/a.py\n+++ b/src/a.py']) {
    const patch = `${head}\n@@\n-a\n+b\n`;
    expect(asked('apply_patch', { patch })).toMatchObject({
      action: { action: 'edit', args: { command: 'apply_patch', path: 'src/a.py', patch, impl_source: 'oh_aci' } },
    });
  }
});

it('EN766: a question is a message that waits, with its choices in the text too', () => {
  expect(call('ask_user', { question: 'Which?', choices: ['this', 'that'] })).toMatchObject({
    action: { action: 'message', args: { content: 'Which?\n\n1. this\n2. that', wait_for_response: true, choices: ['this', 'that'] } },
  });
  expect(errorOf('ask_user', { question: 'Which?', choices: ['this', 'this'] })).toContain('there twice');
  expect(errorOf('ask_user', { question: 'Which?', choices: ['this'] })).toContain('parameter "choices" is wrong');
});

it('EN824: a background command is started, listed, read and ended', () => {
  const { tools } = withOptionalTools(codeActAgent, ['background']);
  const asked = (args: object) => parseToolCall({ id: 'c', name: 'background', arguments: JSON.stringify(args) }, tools);
  expect(asked({ command: 'start', bash: 'make' })).toMatchObject({
    action: { action: 'run', args: { command: 'make', background: true } },
  });
  expect(asked({ command: 'list' })).toMatchObject({ action: { action: 'read', args: { background: {} } } });
  expect(asked({ command: 'read', id: '3', offset: 7 })).toMatchObject({
    action: { action: 'read', args: { background: { id: '3', offset: 7 } } },
  });
  expect(asked({ command: 'stop', id: 3 })).toMatchObject({ action: { action: 'kill', args: { id: '3' } } });
  for (const wrong of [{ command: 'start' }, { command: 'read' }, { command: 'stop' }, { command: 'read', id: 1, offset: -1 }])
    expect(asked(wrong)).toMatchObject({ ok: false });
});

it('EN55: parsing is total: whatever the model writes is an action or a sentence', () => {
  const name = fc.oneof(fc.constantFrom('execute_bash', 'str_replace_editor', 'think', 'task_tracker', 'finish', '__proto__'), fc.string());
  const args = fc.oneof(fc.string(), fc.json());
  fc.assert(
    fc.property(name, args, (tool, text) => {
      const result = call(tool, text);
      expect(result.ok || result.error.length > 0).toBe(true);
    }),
  );
});
