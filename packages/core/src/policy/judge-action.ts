/** What rules say of an action of any kind. */
import { ACTIONS, patchedPaths, type ActionDraft, type ConfirmationRule } from '@tendon/protocol';
import { judgeCommand, ruleText, type Judgement } from './judge-command.ts';
import { isFileWithin, reaches, type Match } from './match-program.ts';
import { isHostWithin, mentionsHost } from './paths.ts';
import { isHarmlessInput } from './risk.ts';
import { literal } from './shell/shell-script.ts';

/** Relative paths of files are in the workspace, whatever the shell's folder is. */
const WORKSPACE = ['/workspace'];

/** `folder`: where the shell stands, if that is known. */
export function judgeAction(action: ActionDraft, all: readonly ConfirmationRule[], folder: string | undefined): Judgement {
  const rules = all.flatMap((rule) => rulesAbout(ruleNameOf(action), rule));
  const named = judgeName(rules);
  if (named && named.decision !== 'allow') return named;
  const found = judgeArguments(action, rules, folder);
  const isDecided = found.decision === 'deny' || (found.decision === 'ask' && !found.isDoubt);
  return named && !isDecided ? named : found;
}

/** A rule of a tool and more is about what else it names, in that tool alone. */
function rulesAbout(name: string, rule: ConfirmationRule): readonly ConfirmationRule[] {
  const { tool, ...rest } = rule;
  if (tool === undefined || (tool === name && namesNoMore(rule))) return [rule];
  return tool === name ? [rest] : [];
}

function namesNoMore({ command, path, host }: ConfirmationRule): boolean {
  return (command ?? path ?? host) === undefined;
}

function judgeArguments(action: ActionDraft, rules: readonly ConfirmationRule[], folder: string | undefined): Judgement {
  switch (action.action) {
    case 'run': {
      const { command, is_input, cwd } = action.args;
      if (is_input) return isHarmlessInput(command) ? ALLOWED : { decision: 'ask', reason: 'it is input to a program', isDoubt: true };
      return judgeCommand(command, rules, cwd?.startsWith('/') ? cwd : folder);
    }
    case 'read':
      return action.args.search?.kind === 'grep' ? judgeSearch(action.args.path, rules) : judgePath(action.args.path, rules);
    case 'write':
      return judgePath(action.args.path, rules);
    case 'edit':
      return judgePaths(editedPaths(action), rules);
    case 'browse':
      return judgeHost(action.args.url, rules);
    default:
      // What runs nothing only mentions what it names.
      return ACTIONS[action.action].traits.confirmable ? judgeText(action, rules) : OPEN;
  }
}

/** The files that an edit changes, as it names them. */
export function editedPaths({ args: { command, path, patch } }: ActionDraft<'edit'>): readonly string[] {
  const named = command === 'apply_patch' ? patchedPaths(patch ?? '') : [];
  return named.length > 0 ? named : [path];
}

const ALLOWED: Judgement = { decision: 'allow', reason: 'it only waits or ends', isDoubt: false };

/** What a rule calls it: an MCP tool by its own name, with `mcp:` before it where a kind of action has that name. */
export function ruleNameOf({ action, args }: ActionDraft): string {
  if (action !== 'call_tool_mcp') return action;
  const name = String(args.name);
  return Object.hasOwn(ACTIONS, name) ? `mcp:${name}` : name;
}

function judgeName(rules: readonly ConfirmationRule[]): Judgement | undefined {
  return strictest(
    rules.filter(({ tool }) => tool !== undefined),
    () => 'yes',
  );
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
  const words = [literal(path)];
  const match = ({ decision, path: folder }: ConfirmationRule): Match => {
    if (decision !== 'allow') return reaches(words, folder!, WORKSPACE);
    return isFileWithin(path, folder!, WORKSPACE) ? 'yes' : 'no';
  };
  return strictest(about, match) ?? OPEN;
}

/** As the strictest of them is judged. */
function judgePaths(paths: readonly string[], rules: readonly ConfirmationRule[]): Judgement {
  if (paths.length * rules.length > MAX_COST) return { decision: 'ask', reason: 'it changes too many files to be judged', isDoubt: true };
  const found = paths.map((path) => judgePath(path, rules));
  return found.toSorted((a, b) => STRICTNESS.indexOf(a.decision) - STRICTNESS.indexOf(b.decision))[0]!;
}

/** Nothing else waits for the server meanwhile. */
const MAX_COST = 20_000;

const STRICTNESS: readonly Judgement['decision'][] = ['deny', 'ask', 'open', 'allow'];

/** It shows what is in the files below. */
function judgeSearch(path: string, rules: readonly ConfirmationRule[]): Judgement {
  const below = rules.filter(
    ({ path: folder, command, host, tool }) =>
      folder !== undefined && (command ?? host ?? tool) === undefined && reaches([literal(path)], folder, WORKSPACE) !== 'no',
  );
  for (const decision of ['deny', 'ask'] as const) {
    const hidden = below.find((rule) => rule.decision === decision);
    const verb = decision === 'deny' ? 'denies' : 'asks about';
    if (hidden) return { decision, reason: `a rule ${verb} ${ruleText(hidden)}, which the search would read`, isDoubt: false };
  }
  return judgePath(path, rules);
}

function judgeHost(url: string, rules: readonly ConfirmationRule[]): Judgement {
  const about = rules.filter((rule) => rule.host !== undefined && (rule.command ?? rule.path ?? rule.tool) === undefined);
  const address = hostOf(url);
  const match = ({ decision, host }: ConfirmationRule): Match => {
    const isThere = address !== undefined && isHostWithin(address, host!);
    return isThere || (decision !== 'allow' && mentionsHost(url, host!)) ? 'yes' : 'no';
  };
  return strictest(about, match) ?? OPEN;
}

/** As a browser reads the address: without quoting, line ends and capital letters. */
function hostOf(url: string): string | undefined {
  const { protocol, hostname } = URL.parse(url) ?? {};
  return protocol === 'http:' || protocol === 'https:' ? hostname?.replace(/\.$/, '') : undefined;
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
