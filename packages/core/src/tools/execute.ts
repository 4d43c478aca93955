import { RunAction, RunIpythonAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool, lenientBoolean, lenientSeconds, riskParameter, toRisk } from './define-tool.ts';

export const executeBash = defineTool({
  name: 'execute_bash',
  description: `Run a command in a bash shell that keeps its folder, variables and background jobs between calls.
- Several lines, heredocs and functions are one script; the exit code is that of its last command.
- Start servers and other long work in the background: \`server > server.log 2>&1 &\`.
- A command that prints nothing for a while is handed back with exit code -1 and goes on. Then call again with is_input "true": an empty command waits for more output, a text answers a prompt, and C-c, C-z or C-d is that key. Or set timeout, in seconds, for a command that you know is slow.
- Long output is cut in the middle: filter it, or write it to a file and look at the part you need.`,
  parameters: z.object({
    command: z.string().describe('The command, or with is_input the text or key to send; may be empty then.'),
    is_input: lenientBoolean.optional().describe('true: send the command as input to the program that is running.'),
    timeout: lenientSeconds.optional().describe('Seconds after which a slow command is handed back.'),
    security_risk: riskParameter,
  }),
  toAction: ({ command, is_input, timeout, security_risk }) => ({
    ...RunAction.create({
      command,
      is_input: is_input ?? false,
      blocking: timeout !== undefined,
      security_risk: toRisk(security_risk),
    }),
    ...(timeout !== undefined && { timeout }),
  }),
});

export const executeIpythonCell = defineTool({
  name: 'execute_ipython_cell',
  description: `Run a cell of Python in Jupyter; variables and imports stay for the next cell. Good for data, plots and quick experiments.
- Plots come back as images. %pip and other magics work; input() does not.
- A cell that prints nothing for a while is handed back and goes on: an empty cell waits for more. Set timeout, in seconds, for a cell that you know is slow; then it is interrupted.`,
  parameters: z.object({
    code: z.string().describe('The cell, or nothing to wait for the one that runs.'),
    timeout: lenientSeconds.optional().describe('Seconds after which the cell is interrupted.'),
    security_risk: riskParameter,
  }),
  toAction: ({ code, timeout, security_risk }) => ({
    ...RunIpythonAction.create({ code, security_risk: toRisk(security_risk) }),
    ...(timeout !== undefined && { timeout }),
  }),
});
