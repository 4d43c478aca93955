import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { boundSecrets } from './bound-secrets.ts';

it('TR915: tokens of git providers are for their provider’s hosts, and a secret of the user takes their variable', () => {
  const hosts: Readonly<Record<string, readonly string[]>> = { DEPLOY: ['deploy.example'] };
  const store = {
    values: new Map(['DEPLOY', 'FREE', 'GITLAB_TOKEN'].map((name) => [name, new Secret(`value-of-${name}`)])),
    hostsOf: (name: string) => hosts[name] ?? [],
  };
  const tokens = {
    logins: [
      { provider: 'github', host: null, token: new Secret('ghp_0123456789') },
      { provider: 'gitlab', host: 'git.corp.example:8443', token: new Secret('glpat-0123456789') },
    ] as const,
  };
  const current = boundSecrets(store, tokens);
  expect(current().map(({ name, hosts: bound }) => [name, ...bound])).toEqual([
    ['DEPLOY', 'deploy.example'],
    ['GITHUB_TOKEN', 'github.com', 'githubusercontent.com', 'ghcr.io'],
    ['token of gitlab', 'git.corp.example'],
  ]);
  expect(current()).toBe(current());
  store.values = new Map();
  expect(current().map(({ name }) => name)).toEqual(['GITHUB_TOKEN', 'GITLAB_TOKEN']);
});
