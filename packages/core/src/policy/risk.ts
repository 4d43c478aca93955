/** How much an action can harm, by rules of our own: what leaves the machine or cannot be taken back is high. */
import type { ActionDraft } from '@tendon/protocol';
import { baseName } from './match-program.ts';
import { gitWords } from './shell/git-doubt.ts';
import { readCommandLine, type Program } from './shell/read-command-line.ts';

/** As on the wire: unknown, low, medium, high. */
export type Risk = -1 | 0 | 1 | 2;

const READS = new Set(
  (
    'ls cat head tail wc grep egrep fgrep rg find fd sort uniq cut tr diff cmp comm stat file tree du df ps which whereis whoami id date uname env ' +
    'printenv basename dirname realpath readlink md5sum sha1sum sha256sum cksum od hexdump xxd strings nl tac rev column jq seq sleep less more awk sed'
  ).split(' '),
);
const GIT_READS = new Set(['status', 'diff', 'log', 'show', 'blame', 'ls-files', 'rev-parse', 'describe', 'grep', 'shortlog', 'reflog']);
const GIT_LOSES = new Set(['push', 'reset', 'clean', 'restore', 'checkout', 'rebase', 'filter-repo', 'gc', 'prune', 'update-ref', 'stash']);
/** They delete, send, change rights, or end what runs. */
const HIGH = new Set(
  (
    'rm rmdir shred unlink dd mkfs fdisk parted mount umount sudo doas su chmod chown chgrp setfacl kill pkill killall shutdown reboot halt poweroff ' +
    'systemctl service iptables nft ip ssh scp sftp rsync ftp telnet nc ncat curl wget docker podman kubectl helm terraform aws gcloud az gh glab ' +
    'heroku vercel netlify twine useradd userdel usermod passwd truncate crontab'
  ).split(' '),
);
const PUBLISHES = /^(?:publish|unpublish|deploy|login|adduser|owner|release|upload)$/;

export function riskOf(action: ActionDraft): Risk {
  switch (action.action) {
    case 'run':
      return action.args.is_input ? inputRisk(action.args.command) : commandRisk(action.args.command);
    case 'read':
      return 0;
    case 'write':
    case 'edit':
    case 'browse':
      return 1;
    default:
      return -1;
  }
}

/** Keys end or suspend what runs, and nothing waits for more of its output. */
function inputRisk(text: string): Risk {
  return isHarmlessInput(text) ? 0 : -1;
}

export function isHarmlessInput(text: string): boolean {
  return /^(?:|C-c|C-d|C-z)$/.test(text.trim());
}

function commandRisk(text: string): Risk {
  const { programs, writes, doubts } = readCommandLine(text);
  const risks = programs.map(programRisk);
  if (risks.includes(2)) return 2;
  if (doubts.length > 0) return -1;
  return writes.length > 0 || risks.includes(1) ? 1 : 0;
}

function programRisk({ name, args }: Program): Risk {
  const base = baseName(name);
  const texts = args.map(({ text }) => text);
  if (HIGH.has(base) || base.startsWith('mkfs.') || texts.some((text) => PUBLISHES.test(text))) return 2;
  if (base === 'git') {
    const { subcommand = '' } = gitWords(texts);
    return GIT_LOSES.has(subcommand) || texts.some((text) => /^(?:-[a-zA-Z]*[Df]|--(?:force|delete|hard).*)$/.test(text))
      ? 2
      : GIT_READS.has(subcommand)
        ? 0
        : 1;
  }
  return READS.has(base) && (base === name || /^\/(?:usr\/)?bin\//.test(name)) ? 0 : 1;
}
