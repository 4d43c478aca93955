/** Messages to the MCP endpoint that nearly are some. */
import * as fc from 'fast-check';
import { hostileText, hostileValue } from './hostile-values.test-support.ts';

const METHODS = [
  'initialize',
  'tools/list',
  'tools/call',
  'ping',
  'notifications/initialized',
  'notifications/cancelled',
  'resources/read',
];
const TOOLS = ['create_pr', 'create_mr', 'create_bitbucket_pr', '__proto__', 'constructor'];

const args = fc.dictionary(fc.constantFrom('repo_name', 'id', 'source_branch', 'target_branch', 'title', 'body', 'labels'), hostileValue);
const params = fc.oneof(
  hostileValue,
  fc.record({ name: fc.oneof(fc.constantFrom(...TOOLS), hostileText), arguments: fc.oneof(args, hostileValue) }),
);
export const message = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.integer(), hostileValue),
      method: fc.constantFrom(...METHODS),
      params,
    }),
  },
  { weight: 1, arbitrary: hostileValue },
);
