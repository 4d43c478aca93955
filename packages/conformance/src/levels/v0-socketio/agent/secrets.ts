import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import type { Frame } from '../../../target/frames.ts';
import { logOf, bash, request, spoken, textOfRequest } from './talk.ts';

const VALUE = 'k3pt-fr0m-every0ne/&?=';
const SPELLINGS: readonly (readonly [string, string])[] = [
  ['as it is', VALUE],
  ['base64', Buffer.from(VALUE).toString('base64').replace(/=+$/, '').slice(0, -2)],
  ['hexadecimal', Buffer.from(VALUE).toString('hex')],
  ['in an address', encodeURIComponent(VALUE)],
];

/** Named secrets, given to the commands that name them and hidden in all that comes out. */
export const secrets: readonly Check[] = [
  {
    id: 'v0-socketio/secrets-hidden',
    title:
      'a stored secret is given to the command that names it and to no other, and hidden in every spelling, in frames, events and requests',
    cites: ['EN96', 'EN70', 'SB80', 'SB82', 'SB83', 'SB85'],
    isAlone: true,
    async run(target) {
      const name = 'CONFORMANCE_HIDDEN';
      target.defer(async () => void (await target.ask('DELETE', `/api/secrets/${name}`)));
      await target.ask('POST', '/api/secrets', { body: { name, value: VALUE, description: '' } });
      const spell = `printf %s "$${name}" | od -An -tx1 | tr -d ' \\n'; echo; printf %s "$${name}" | base64`;
      const talk = await spoken(target, [
        bash(`echo "\${#${name}} $${name}"`),
        bash(spell),
        bash(`python3 -c "import os,urllib.parse; print(urllib.parse.quote(os.environ['${name}'], safe=''))"`),
        bash('env | grep -c "CONFORMANCE_HI[D]DEN" ; true'),
        { text: 'seen' },
      ]);
      const contents = talk.frames.filter(({ observation }) => observation === 'run').map(({ content }) => String(content).trim());
      assert.match(contents[0] ?? '', new RegExp(`^${VALUE.length} `), 'the command that names it does not have it');
      assert.equal(contents[3], '0');
      const places = {
        'a frame': JSON.stringify(talk.ready.peer.frames.all),
        'the log': JSON.stringify(await logOf(target, talk.ready)),
        'a request': textOfRequest(await request(target, talk, 4)),
      };
      for (const [place, text] of Object.entries(places))
        for (const [spelling, secret] of SPELLINGS) assert.ok(!text.includes(secret), `${place} has it (${spelling})`);
    },
  },
  {
    id: 'v0-socketio/secrets-not-left',
    title: 'a secret is in the next command and the next cell no more',
    cites: ['SB83'],
    isAlone: true,
    async run(target) {
      const name = 'CONFORMANCE_GONE';
      target.defer(async () => void (await target.ask('DELETE', `/api/secrets/${name}`)));
      await target.ask('POST', '/api/secrets', { body: { name, value: VALUE, description: '' } });
      const { frames } = await spoken(target, [
        bash(`test -n "$${name}" && echo there`),
        bash('env | grep -c "CONFORMANCE_G[O]NE"; true'),
        {
          call: 'execute_ipython_cell',
          args: { code: 'import os; print(sum("CONFORMANCE_GO" + "NE" == one for one in os.environ))', timeout: 60 },
        },
      ]);
      const contents = frames
        .filter(({ observation }: Frame) => observation === 'run' || observation === 'run_ipython')
        .map(({ content }) => String(content).split('\n')[0]!.trim());
      assert.deepEqual(contents, ['there', '0', '0']);
    },
  },
];
