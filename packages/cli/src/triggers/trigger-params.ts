import type { CreateTrigger, TriggerKind } from '@tendon/protocol';
import { InvalidArgumentError } from 'commander';
import type { TriggerParams } from './triggers-client.ts';

type PostTo = NonNullable<CreateTrigger['post_to']>;

/** Of `tendon triggers add`. */
export interface AddOptions {
  readonly name: string;
  readonly prompt?: string;
  readonly cron?: string;
  readonly timeZone?: string;
  /** False: comments do not fire it. */
  readonly phrase?: string | false;
  readonly label?: string;
  readonly allowedUsers?: readonly string[];
  readonly withoutComment?: true;
  readonly repository?: string;
  readonly branch?: string;
  readonly gitProvider?: PostTo['git_provider'];
  readonly agent?: string;
  readonly maxPerHour?: number;
  readonly postTo?: PostTo;
}

const MENTIONS: readonly TriggerKind[] = ['github', 'gitlab'];
const OTHERS: readonly TriggerKind[] = ['webhook', 'schedule'];
/** The server ignores these of other kinds; somebody who gives one expects an effect. */
const KINDS_OF: { readonly [Name in keyof AddOptions]?: readonly TriggerKind[] } = {
  cron: ['schedule'],
  timeZone: ['schedule'],
  phrase: MENTIONS,
  label: ['github'],
  allowedUsers: MENTIONS,
  withoutComment: MENTIONS,
  gitProvider: OTHERS,
  postTo: OTHERS,
};

/** One sentence about options that do not fit the kind, or are missing; what values mean is the server's to judge. */
export function misuseOf(kind: TriggerKind, options: AddOptions): string | undefined {
  for (const [name, kinds] of Object.entries(KINDS_OF)) {
    if (options[name as keyof AddOptions] === undefined || kinds.includes(kind)) continue;
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return `--${flag} is for the kind ${kinds.join(' or ')}.`;
  }
  if (kind === 'schedule' && options.cron === undefined) return 'A schedule needs --cron, e.g. --cron "0 9 * * mon-fri".';
  if (OTHERS.includes(kind) && options.prompt === undefined) return 'It needs --prompt: what the agent is asked.';
  if (kind === 'gitlab' && options.allowedUsers === undefined)
    return 'On GitLab it needs --allowed-users: the names of those who may fire it.';
  return undefined;
}

export function triggerParams(kind: TriggerKind, options: AddOptions): TriggerParams {
  const { name, prompt, cron, timeZone, phrase, label, allowedUsers, withoutComment } = options;
  const { repository, branch, gitProvider, agent, maxPerHour, postTo } = options;
  const mention = {
    ...(phrase !== undefined && { phrase: phrase === false ? null : phrase }),
    ...(label !== undefined && { label }),
    ...(allowedUsers && { allowed_users: [...allowedUsers] }),
  };
  return {
    name,
    kind,
    ...(prompt !== undefined && { prompt }),
    ...(cron !== undefined && { schedule: { cron, ...(timeZone !== undefined && { time_zone: timeZone }) } }),
    ...(MENTIONS.includes(kind) && { mention, posts_result: withoutComment !== true }),
    ...(repository !== undefined && { repository }),
    ...(branch !== undefined && { branch }),
    ...(gitProvider !== undefined && { git_provider: gitProvider }),
    ...(agent !== undefined && { agent }),
    ...(maxPerHour !== undefined && { max_per_hour: maxPerHour }),
    ...(postTo && { post_to: postTo }),
  };
}

/** Of `github:ann/tools#9`, or `gitlab:ann/tools!9` for a merge request. */
export function postToOf(text: string): PostTo {
  const match = /^(github|gitlab|bitbucket):([^#!\s]+)([#!])([1-9]\d{0,8})$/.exec(text);
  if (!match) throw new InvalidArgumentError('An issue is named github:owner/name#9, a pull or merge request github:owner/name!9.');
  const [, provider, repository = '', mark, number] = match;
  return { git_provider: provider as PostTo['git_provider'], repository, number: Number(number), is_pull_request: mark === '!' };
}
