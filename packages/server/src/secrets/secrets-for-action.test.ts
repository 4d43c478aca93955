import { RunAction, RunIpythonAction } from '@tendon/protocol';
import { type RunnableAction } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { secretsForAction } from './secrets-for-action.ts';

const secrets = new Map(['API_KEY', 'API_KEY_2', 'TOKEN'].map((name) => [name, new Secret(`value-of-${name}`)]));
const meta = { id: 1, timestamp: '', source: 'agent' } as const;
const named = (action: object) => [...secretsForAction({ ...meta, ...action } as RunnableAction, secrets).keys()];

it.each([
  ['curl -H "x: $API_KEY" x', ['API_KEY']],
  ['curl ${API_KEY} ${API_KEY_2}', ['API_KEY', 'API_KEY_2']],
  ['echo ${API_KEY:0:4} ${#TOKEN}', ['API_KEY', 'TOKEN']],
  ['printenv TOKEN', ['TOKEN']],
  [`python3 -c 'import os; print(os.environ["TOKEN"])'`, ['TOKEN']],
  [`node -e 'process.env.TOKEN'`, ['TOKEN']],
  [`ruby -e 'ENV["TOKEN"]'`, ['TOKEN']],
  ['env', []],
  ['echo API_KEY TOKEN', []],
  ['echo $API_KEYS $MY_TOKEN', []],
  ['bash deploy.sh', []],
])('SB82: %j reads %j', (command, names) => expect(named(RunAction.create({ command }))).toEqual(names));

it.each([
  ['import os\nos.getenv("API_KEY")', ['API_KEY']],
  ['os.environ.get("TOKEN", "")', ['TOKEN']],
  ['!echo $TOKEN', ['TOKEN']],
  ['TOKEN = 1', []],
])('SB82: the cell %j reads %j', (code, names) => expect(named(RunIpythonAction.create({ code }))).toEqual(names));

it('SB82: input to a running program is given nothing', () => {
  expect(named(RunAction.create({ command: '$TOKEN', is_input: true }))).toEqual([]);
});
