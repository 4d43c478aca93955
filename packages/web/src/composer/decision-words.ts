import type { Action } from '@tendon/protocol';
import { fileName, hostName } from '../copy/shorten.ts';

export interface DecisionWords {
  /** Names the effect. */
  readonly question: string;
  /** The action whole. */
  readonly whole: string;
  /** One sentence. */
  readonly consequence: string;
}

const INSIDE = 'It runs in the sandbox; files in the workspace can change.';

export function decisionWords(action: Action): DecisionWords {
  switch (action.action) {
    case 'run':
      return {
        question: commandQuestion(action.args.command),
        whole: action.args.command,
        consequence: commandConsequence(action.args.command),
      };
    case 'run_ipython':
      return { question: 'Run this Python code?', whole: action.args.code, consequence: INSIDE };
    case 'write':
      return {
        question: `Write ${fileName(action.args.path)}?`,
        whole: `${action.args.path}\n\n${action.args.content}`,
        consequence: 'It replaces what the file holds now.',
      };
    case 'edit':
      return {
        question: `Change ${fileName(action.args.path)}?`,
        whole: editText(action),
        consequence: 'It changes a file of the workspace.',
      };
    case 'browse':
      return { question: `Open ${hostName(action.args.url)}?`, whole: action.args.url, consequence: 'The page learns that it was opened.' };
    case 'browse_interactive':
      return {
        question: 'Do this in the browser?',
        whole: action.args.browser_actions,
        consequence: 'It acts on a web page as you would.',
      };
    case 'call_tool_mcp':
      return {
        question: `Call ${action.args.name}?`,
        whole: JSON.stringify(action.args.arguments, null, 2),
        consequence: 'The tool decides what it does with this.',
      };
    default:
      return { question: `Go on with ${action.action}?`, whole: JSON.stringify(action.args, null, 2), consequence: INSIDE };
  }
}

function commandQuestion(command: string): string {
  const text = command.trim();
  if (/^git push\b/.test(text)) return 'Push the branch?';
  if (/\brm\s+-/.test(text)) return 'Delete these files?';
  if (/^(npm|pnpm|yarn|pip|apt|apt-get|cargo)\s+(install|add|i)\b/.test(text)) return 'Install this?';
  return 'Run this command?';
}

function commandConsequence(command: string): string {
  if (/^\s*git push\b/.test(command)) return 'Leaves this machine: the commits become visible to everyone who can read the repository.';
  if (/\brm\s+-/.test(command)) return 'What is deleted and not in git cannot be restored back.';
  if (/\b(curl|wget|ssh|scp|rsync)\b/.test(command)) return 'It talks to another machine.';
  return INSIDE;
}

function editText({ args }: Extract<Action, { action: 'edit' }>): string {
  const parts = [
    args.path,
    args.command,
    args.old_str && `− ${args.old_str}`,
    args.new_str && `+ ${args.new_str}`,
    args.file_text,
    args.content,
  ];
  return parts.filter(Boolean).join('\n\n');
}
