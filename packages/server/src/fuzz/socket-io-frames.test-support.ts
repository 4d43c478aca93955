/** What Socket.IO clients emit, and packets that no client library makes. */
import * as fc from 'fast-check';
import { hostileText, hostileValue } from './hostile-values.test-support.ts';

const ACTIONS =
  'initialize start message run run_ipython read write edit browse browse_interactive change_agent_state finish think recall system delegate condensation null'.split(
    ' ',
  );
/** The events by which clients of all releases send frames, and those that the library itself sends. */
const NAMES = ['oh_user_action', 'oh_action', 'initialize', 'message', 'anything', 'error', 'newListener', '__proto__'];
const KEYS = 'content task command code path agent_state image_urls file_urls thought security_risk id timeout'.split(' ');

const args = fc.oneof(hostileValue, fc.dictionary(fc.constantFrom(...KEYS), hostileValue, { maxKeys: 4 }));
export const frame = fc.oneof(
  hostileValue,
  fc.record({ action: fc.oneof(fc.constantFrom(...ACTIONS), hostileValue), args }, { requiredKeys: [] }),
);
export const emitted = fc.tuple(
  fc.constantFrom(...NAMES.filter((name) => name !== 'error' && name !== 'newListener')),
  fc.array(fc.oneof({ weight: 5, arbitrary: frame }, fc.uint8Array({ maxLength: 50 })), { maxLength: 3 }),
);

export const packet = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '2probe',
    '3',
    '5',
    '6',
    '40',
    '41',
    '42',
    '43',
    '44',
    '45',
    '46',
    '40{',
    '42[',
    '42["oh_user_action"',
    '420[]',
  ),
  fc.constantFrom('42["error"]', '42["connect"]', '42["disconnect"]', '42["newListener",1]', '42[1,2]', '42[null]', '42{}', '43[1]'),
  fc.constantFrom('45-["a"]', '451-["oh_user_action",{"_placeholder":true,"num":0}]', '459999999999-["a"]', '40/admin,', '40/__proto__,'),
  fc.tuple(fc.constantFrom('4', '40', '42', '45', '2', 'b'), hostileText).map(([kind, text]) => kind + text),
  hostileText,
  fc.uint8Array({ maxLength: 100 }),
);
