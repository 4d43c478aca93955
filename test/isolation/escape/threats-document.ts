import type { Strength } from '@tendon/core';
import type { DriverName } from '@tendon/runtime';
import { THREATS } from './threats.ts';

/** What each driver reaches that the threats are run on; `remote` with the driver `local` on its host. Pods can only be had on a cluster: docs/kubernetes.md. */
export const STRENGTHS: Readonly<Record<Exclude<DriverName, 'kubernetes'>, Strength>> = {
  local: 'os-sandbox',
  docker: 'container',
  remote: 'os-sandbox',
  none: 'none',
};

const HEAD = `# Threats (SB120)

What a hostile command in a sandbox tries, and on which drivers it fails. Each line is a program that \`test/isolation/escape\` runs as the agent would, in a
sandbox of each driver, with another conversation's beside it and bait on the host: files, a process, services, sockets, shared memory. This page is made of that table
(\`vitest run -u --project quick test/conformance/threats.test.ts\`).
What the tests were run with: \`docker\` with an image of Debian on dockerd, \`remote\` with \`local\` on its host.

| | \`local\` | \`docker\` | \`remote\` | \`none\` |
|---|---|---|---|---|
| strength | ${Object.values(STRENGTHS)
  .map((strength) => `\`${strength}\``)
  .join(' | ')} |
`;

const TAIL = `
\`none\` holds nothing: it is the user's own shell. Where the last column says **gets out** the same program is run there and must get out, so that no line holds because its probe is blind (SB128).

## What no line can show
- Holes of the kernel itself. Sandboxes share it with the host; against those only a machine of one's own helps (\`remote\`).
- With the policy \`full\` or a wide allowlist a command can send what it knows to the places that are open, also in the names it asks the proxy for.
- The kernel names, in \`/proc/net/unix\`, the path on the host of the sandbox's own proxy socket. It cannot be opened by that path.
- What the agent may do anyway: spoil its workspace, its shell and its own outcomes.
`;

/** The page docs/spec/threats.md. */
export function threatsDocument(): string {
  const sections = THREATS.map(({ rule, title, threats }) => {
    const rows = threats.map((threat) => {
      const cells = (['local', 'docker', 'remote'] as const).map((name) => ('notHeld' in threat && threat.notHeld?.[name]) || 'held');
      return `| \`${threat.id}\` | ${threat.threat} | ${cells.map((cell) => (cell === 'held' ? cell : `**not held**: ${cell}`)).join(' | ')} | ${threat.isControl ? '**gets out**' : 'not tried'} |`;
    });
    return `\n## ${title} (${rule})\n| | threat | \`local\` | \`docker\` | \`remote\` | \`none\` |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `${HEAD}${sections.join('')}${TAIL}`;
}
