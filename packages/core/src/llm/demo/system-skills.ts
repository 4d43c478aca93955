import { bash, failed, fenced, finished, once, type DemoMove, type DemoSkill } from './demo-skill.ts';
import type { ToolResult } from './read-request.ts';

const RUN = /^(?:please\s+)?(?:(?:run|execute)(?:\s+the)?(?:\s+(?:shell\s+|bash\s+)?command)?\s*:?\s+(?=\S)|\$\s+)(.+)$/is;
const RUN_COLON = /^(?:please\s+)?(?:run|execute):\s*(.+)$/is;
const GIT_INIT = /\bgit\s+init\b|\b(?:initiali[sz]e|create|make|start)\s+(?:a\s+|an\s+)?(?:new\s+|empty\s+)?git\s+(?:repo|repository)\b/i;

/** Questions that one command answers. */
const FACTS: readonly { readonly example: string; readonly pattern: RegExp; readonly command: string; readonly what: string }[] = [
  {
    example: 'what time is it?',
    pattern: /\bwhat(?:'s| is)? (?:the )?(?:time|date|day)\b/i,
    command: 'date',
    what: 'The date and time here',
  },
  {
    example: 'which operating system is this?',
    pattern: /\b(?:which|what) (?:is the )?(?:os|operating system|linux|distribution|kernel|system)\b/i,
    command: '. /etc/os-release 2>/dev/null; echo "${PRETTY_NAME:-unknown}, $(uname -srm)"',
    what: 'The system',
  },
  { example: 'how much disk space is left?', pattern: /\b(?:disk space|free space|disk usage)\b/i, command: 'df -h .', what: 'Disk space' },
  {
    example: 'how much memory is there?',
    pattern: /\b(?:how much|which|what) (?:free )?(?:memory|ram)\b/i,
    command: 'grep -E "^Mem(Total|Available)" /proc/meminfo',
    what: 'Memory',
  },
  {
    example: 'where am I?',
    pattern: /^(?:where am i|who am i|pwd|whoami)\b/i,
    command: 'echo "$(id -un) in $(pwd)"',
    what: 'User and folder',
  },
];

export const SYSTEM_SKILLS: readonly DemoSkill[] = [
  {
    example: 'run `ls -la`',
    next: ({ task, results }) => {
      const match = RUN_COLON.exec(task) ?? RUN.exec(task);
      return match ? run(commandOf(match[1] ?? ''), results) : undefined;
    },
  },
  {
    example: 'initialise a git repository',
    next: ({ task, results }) =>
      GIT_INIT.test(task)
        ? once(
            results,
            bash('I make the workspace a git repository.', 'git -C /workspace init && git -C /workspace status --short --branch'),
            ({ text }) => finished(`The workspace is a git repository now:\n\n${fenced(text)}`),
          )
        : undefined,
  },
  ...FACTS.map(({ example, pattern, command, what }) => ({
    example,
    next: ({ task, results }: { readonly task: string; readonly results: readonly ToolResult[] }) =>
      pattern.test(task)
        ? once(results, bash('I ask the system.', command), ({ text }) => finished(`${what}:\n\n${fenced(text)}`))
        : undefined,
  })),
];

/** The command inside backquotes or a fenced block, else the text as it is. */
function commandOf(text: string): string {
  const block = /^```\w*\n(.*?)\n?```\s*$/s.exec(text.trim()) ?? /^`([^`]+)`\s*\.?$/s.exec(text.trim());
  return block?.[1] ?? text.trim();
}

function run(command: string, results: readonly ToolResult[]): DemoMove {
  const [result] = results;
  if (!result) return bash('I run the command.', command);
  if (result.failed) return failed('That did not work', result);
  return finished(`The command ended with exit code ${result.exitCode ?? 0}:\n\n${fenced(result.text)}`);
}
