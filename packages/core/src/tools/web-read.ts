import { BrowseAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { riskParameter, toRisk } from './lenient.ts';

export const webRead = defineTool({
  name: 'web_read',
  description: 'Open a web page in the browser of the sandbox and read it as Markdown.',
  parameters: z.object({
    url: z.string().min(1).describe('Address of the page.'),
    security_risk: riskParameter,
  }),
  toAction: ({ url, security_risk }) => BrowseAction.create({ url, security_risk: toRisk(security_risk) }),
});
