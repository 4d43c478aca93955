import { RunIpythonAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool, lenientSeconds, riskParameter, toRisk } from './define-tool.ts';

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
