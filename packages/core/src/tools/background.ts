import { KillAction, ReadAction, RunAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool, lenientInteger, riskParameter, toRisk } from './define-tool.ts';

/** Commands with handles: they go on between the turns, and end with the sandbox. */
export const background = defineTool({
  name: 'background',
  description:
    'Commands beside the shell that go on between your turns: servers, watchers, long builds. start runs one and gives its number; list shows all with their states; read shows what one printed; stop ends one with its children.',
  needsSandbox: true,
  parameters: z.object({
    command: z.enum(['start', 'list', 'read', 'stop']),
    bash: z.string().optional().describe('start: what runs, in the folder and with the variables of the shell.'),
    id: lenientInteger.optional().describe('read, stop: its number.'),
    offset: lenientInteger.optional().describe('read: the first byte; default the end of the output.'),
    security_risk: riskParameter,
  }),
  toAction({ command, bash, id, offset, security_risk }) {
    if (command === 'start')
      return bash?.trim()
        ? RunAction.create({ command: bash, background: true, security_risk: toRisk(security_risk) })
        : 'the command "start" needs the parameter "bash".';
    if (command === 'list') return ReadAction.create({ path: 'background', background: {} });
    if (id === undefined) return `the command "${command}" needs the parameter "id".`;
    if (command === 'stop') return KillAction.create({ id: String(id) });
    if (offset !== undefined && offset < 0) return 'the parameter "offset" is negative.';
    return ReadAction.create({ path: `background ${id}`, background: { id: String(id), ...(offset !== undefined && { offset }) } });
  },
});
