import { type Answering, answerJson, deadAddress, oddServer } from '@tendon/testing/servers';
import { describe, expect, it } from 'vitest';
import { itInFull, someOf } from '@tendon/testing';
import { makePlace, tendon } from './tendon-child.test-support.ts';

const GREETED: readonly (readonly [string, Answering, RegExp])[] = [
  [
    'answers with pages',
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    /answers with a page/,
  ],
  ['drops connections', (request) => void request.socket.destroy(), /does not answer: /],
  ['refuses', (_request, response) => answerJson(response, 401, { detail: 'no' }), /give its key with --key/],
  [
    'breaks',
    (_request, response) => answerJson(response, 500, { detail: 'x'.repeat(1000) }),
    /does not take settings: POST \/api\/settings is 500/,
  ],
];

describe('DL98: the command, at a server that is none', () => {
  it('says that nothing listens, and ends with 1', async () => {
    const url = await deadAddress();
    const { code, stdout, stderr } = await tendon(makePlace(), ['conformance', url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${url} does not answer: .*ECONNREFUSED`));
  });

  itInFull('says that it hangs, and ends with 1', async () => {
    const url = await oddServer(() => {});
    const { code, stderr } = await tendon(makePlace(), ['conformance', url, '--timeout', '1']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${url} does not answer: it answered nothing for 1 s\n` });
  });

  it.each(someOf(GREETED, 1))('says when it %s, and ends with 1', async (_how, answer, words) => {
    const url = await oddServer(answer);
    const { code, stdout, stderr } = await tendon(makePlace(), ['conformance', url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(words);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr.length).toBeLessThan(400);
  });
});
