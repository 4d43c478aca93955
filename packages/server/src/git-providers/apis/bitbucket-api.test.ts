import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { bitbucketApi } from './bitbucket-api.ts';
import { fakeProvider } from './fake-provider.test-support.ts';

const TOKEN = 'bb-0123456789';
const repository = {
  uuid: '{1}',
  full_name: 'team/app',
  is_private: false,
  updated_on: '2025-01-02',
  mainbranch: { name: 'main' },
  owner: { type: 'team' },
};
const branch = { name: 'main', target: { hash: 'abc', date: '2025-01-02' } };

it('SV106: Bitbucket Cloud is asked as its REST API is documented', async () => {
  const fake = await fakeProvider(TOKEN, {
    'GET /2.0/user': () => ({ body: { uuid: '{u}', username: 'cem', display_name: 'Cem', links: { avatar: { href: 'http://a' } } } }),
    'GET /2.0/workspaces': () => ({ body: { values: [{ slug: 'team' }] } }),
    'GET /2.0/repositories': () => ({ body: { values: [repository], next: 'https://api.bitbucket.org/2.0/repositories?page=2' } }),
    'GET /2.0/repositories/team': () => ({ body: { values: [repository] } }),
    'GET /2.0/repositories/team/app/refs/branches': () => ({ body: { values: [branch], size: 1 } }),
    'GET /2.0/repositories/team/app/src/HEAD/.openhands/microagents/': () => ({
      body: {
        values: [
          { type: 'commit_file', path: '.openhands/microagents/a.md' },
          { type: 'commit_directory', path: 'x' },
        ],
      },
    }),
    'GET /2.0/repositories/team/app/src/HEAD/a.md': () => ({ body: 'text' }),
  });
  const api = bitbucketApi({ provider: 'bitbucket', host: null, token: new Secret(TOKEN) }, 10_000, fake.origin);
  expect(await api.user()).toMatchObject({ id: '{u}', login: 'cem', name: 'Cem', avatar_url: 'http://a' });
  expect(await api.installations()).toEqual(['team']);
  const page = { page: 1, perPage: 10, sort: 'pushed' };
  expect(await api.repositories(page)).toMatchObject([
    { full_name: 'team/app', is_public: true, owner_type: 'organization', link_header: expect.stringContaining('rel="next"') as string },
  ]);
  expect(await api.repositories({ ...page, installation: 'team' })).toMatchObject([{ link_header: '' }]);
  expect(await api.searchRepositories({ query: 'team/ap', perPage: 5, sort: 'stars', order: 'desc' })).toHaveLength(1);
  expect(fake.requests.at(-1)).toContain('/2.0/repositories/team?q=name');
  expect(await api.branches('team/app', { page: 1, perPage: 5 })).toMatchObject({ has_next_page: false, total_count: 1 });
  expect(await api.searchBranches('team/app', 'ma"in', 5)).toMatchObject([{ name: 'main', commit_sha: 'abc' }]);
  expect(await api.files('team/app', '.openhands/microagents')).toEqual(['.openhands/microagents/a.md']);
  expect(await api.file('team/app', 'a.md')).toBe('text');
  expect(await api.suggestedTasks()).toEqual([]);
});

it('SV106: an installation other than bitbucket.org is refused in words', async () => {
  const api = bitbucketApi({ provider: 'bitbucket', host: 'bb.example.org', token: new Secret(TOKEN) }, 10_000);
  await expect(api.user()).rejects.toThrow('other than bitbucket.org');
});
