import type { CreateConversation } from '@tendon/protocol';

const TASKS: Readonly<Record<string, string>> = {
  MERGE_CONFLICTS:
    'has merge conflicts. Merge its base branch into it, resolve the conflicts so that both intents are preserved, run the tests and push.',
  FAILING_CHECKS: 'has failing checks. Find out why they fail, fix the cause, run them and push.',
  UNRESOLVED_COMMENTS: 'has unresolved review comments. Address each of them, and push.',
};

/** What the agent is asked to begin with, from whichever button of a frontend the conversation was made. */
export function startingWords({ initial_user_msg, suggested_task, create_microagent }: CreateConversation): string {
  if (initial_user_msg?.trim()) return initial_user_msg;
  if (suggested_task) {
    const { repo, issue_number, title, task_type } = suggested_task as Readonly<Record<string, unknown>>;
    const what = `${String(repo ?? 'the repository')}#${String(issue_number ?? '')} ("${String(title ?? '')}")`;
    const known = TASKS[String(task_type)];
    return known
      ? `The pull request ${what} ${known}`
      : `Work on the issue ${what}: read it, make the change, test it, and open a pull request.`;
  }
  if (create_microagent) {
    const { repo, title } = create_microagent as Readonly<Record<string, unknown>>;
    return `Write a microagent for ${String(repo)}${title ? ` about: ${String(title)}` : ''}. It is a Markdown file in .openhands/microagents.`;
  }
  return '';
}

/** `gui` unless a button says otherwise. */
export function triggerOf({ suggested_task, create_microagent }: CreateConversation): string {
  if (suggested_task) return 'suggested_task';
  return create_microagent ? 'microagent_management' : 'gui';
}
