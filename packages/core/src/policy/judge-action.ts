/** What rules say of an action of any kind. */
import type { ActionDraft, ConfirmationRule } from '@tendon/protocol';
import { judgeCommand, ruleText, type Judgement } from './judge-command.ts';
import { everyPlace, reaches, type Match } from './match-program.ts';
import { hostsIn, isHostWithin, isWithin, mentionsHost } from './paths.ts';
import { isHarmlessInput } from './risk.ts';
import { literal } from './shell/shell-script.ts';

/** Relative paths of files are in the workspace, whatever the shell's folder is. */
const WORKSPACE = '/workspace';

/** `folder`: where the shell stands, if that is known. */
export function judgeAction(action: ActionDraft, rules: readonly ConfirmationRule[], folder: string | undefined): Judgement {
  const named = judgeName(nameOf(action), rules);
  if (named && named.decision !== 'allow') return named;
  const found = judgeArguments(action, rules, folder);
  const isDecided = found.decision === 'deny' || (found.decision === 'ask' && !found.isDoubt);
  return named && !isDecided ? named : found;
}

function judgeArguments(action: ActionDraft, rules: readonly ConfirmationRule[], folder: string | undefined): Judgement {
  switch (action.action) {
    case 'run': {
      const { command, is_input, cwd } = action.args;
      if (is_input) return isHarmlessInput(command) ? ALLOWED : { decision: 'ask', reason: 'it is input to a program', isDoubt: true };
      return judgeCommand(command, rules, cwd?.startsWith('/') ? cwd : folder);
    }
    case 'read':
    case 'write':
    case 'edit':
      return judgePath(action.args.path, rules);
    case 'browse':
      return judgeHost(action.args.url, rules);
    default:
      return judgeText(action, rules);
  }
}

const ALLOWED: Judgement = { decision: 'allow', reason: 'it only waits or ends', isDoubt: false };

/** What a rule calls it: an MCP tool by its own name. */
function nameOf({ action, args }: ActionDraft): string {
  return action === 'call_tool_mcp' ? String(args.name) : action;
}

function judgeName(name: string, rules: readonly ConfirmationRule[]): Judgement | undefined {
  const about = rules.filter(({ tool, command, path, host }) => tool === name && (command ?? path ?? host) === undefined);
  return strictest(about, () => 'yes');
}

function strictest(rules: readonly ConfirmationRule[], match: (rule: ConfirmationRule) => Match): Judgement | undefined {
  const decisions = ['deny', 'ask', 'allow'] as const;
  for (const decision of decisions) {
    const rule = rules.find((each) => each.decision === decision && match(each) !== 'no');
    if (!rule) continue;
    const isMaybe = decision === 'deny' && match(rule) === 'maybe';
    return { decision: isMaybe ? 'ask' : decision, reason: `a rule is about ${ruleText(rule)}`, isDoubt: false };
  }
  return undefined;
}

const OPEN: Judgement = { decision: 'open', reason: 'no rule is about it', isDoubt: false };

function judgePath(path: string, rules: readonly ConfirmationRule[]): Judgement {
  const about = rules.filter((rule) => rule.path !== undefined && (rule.command ?? rule.host ?? rule.tool) === undefined);
  const match = ({ decision, path: folder }: ConfirmationRule): Match => {
    if (decision !== 'allow') return reaches([literal(path)], folder!, [WORKSPACE]);
    return everyPlace(path, [WORKSPACE], (place) => isWithin(place, folder!)) ? 'yes' : 'no';
  };
  return strictest(about, match) ?? OPEN;
}

function judgeHost(url: string, rules: readonly ConfirmationRule[]): Judgement {
  const about = rules.filter((rule) => rule.host !== undefined && (rule.command ?? rule.path ?? rule.tool) === undefined);
  const hosts = hostsIn(url);
  const match = ({ decision, host }: ConfirmationRule): Match => {
    const isThere = decision === 'allow' ? hosts.length === 1 && isHostWithin(hosts[0]!, host!) : mentionsHost(url, host!);
    return isThere ? 'yes' : 'no';
  };
  return strictest(about, match) ?? OPEN;
}

/** A text of a program, or arguments of a tool: what it does cannot be seen, but what it names can. */
function judgeText({ args }: ActionDraft, rules: readonly ConfirmationRule[]): Judgement {
  const text = JSON.stringify(args);
  const about = rules.find(
    ({ decision, host, path, command, tool }) =>
      decision !== 'allow' &&
      (command ?? tool) === undefined &&
      ((host !== undefined && mentionsHost(text, host)) || (path !== undefined && text.includes(path))),
  );
  if (about) return { decision: about.decision, reason: `a rule is about ${ruleText(about)}`, isDoubt: false };
  return { decision: 'ask', reason: 'what it does cannot be judged by rules', isDoubt: true };
}
