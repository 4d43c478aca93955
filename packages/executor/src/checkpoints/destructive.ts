import { textArgument, type ActionRequest } from '../action-handler.ts';

/**
 * What a command or a cell that destroys looks like. It may well be quoted text, or of something harmless: then a checkpoint is made that
 * nobody needs. So it is looked for anywhere, with quotes and backslashes taken away, and what runs a text that is made first counts too.
 */
const DESTRUCTIVE = [
  /\b(?:rm|rmdir|unlink|shred|truncate|dd|wipefs|sgdisk|fdisk|parted|mkswap)\b|\bmkfs\b/,
  /\b(?:chmod|chown|chgrp|setfacl)\b/,
  /\bfind\b[^]*\s-(?:delete|exec|execdir|ok|okdir)\b|\brsync\b[^]*--(?:delete|remove-source)/,
  /\bgit\b[^]*\b(?:reset|clean|checkout|restore|switch|stash|rebase|merge|pull|am|apply|filter-branch|filter-repo|push|gc|prune|reflog|update-ref|worktree|submodule)\b/,
  /\b(?:hg|jj|svn)\b[^]*\b(?:purge|update|revert|strip|abandon|restore)\b/,
  /\b(?:drop|truncate|delete)\b/i,
  /\b(?:rmtree|removedirs|unlinkSync|rmSync|rm_rf)\b|\bos\.remove\b/,
  /\b(?:eval|base64|xxd)\b/,
];

/** Whether an action of the agent's may destroy more than it says. */
export function isDestructive(args: ActionRequest['args']): boolean {
  const text = `${textArgument(args, 'command')}\n${textArgument(args, 'code')}`.replaceAll(/['"\\]/g, '');
  return DESTRUCTIVE.some((pattern) => pattern.test(text));
}
