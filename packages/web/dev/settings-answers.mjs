// What the fixture server answers to the pages of the settings, beside the settings themselves.
import { json } from 'node:stream/consumers';

const at = () => new Date().toISOString();

export function settingsAnswers() {
  let keys = [{ id: 'ci', name: 'nightly run', scope: 'drive', created_at: at(), expires_at: null, last_used_at: null }];
  let devices = [{ id: 'phone', device: 'Chrome (Android)', created_at: '2026-11-20T09:12:00.000Z' }];
  const without = (id) => {
    devices = devices.filter((one) => one.id !== id);
    return { revoked: true };
  };
  let notes = [{ name: 'user', path: '/home/ann/.tendon/notes/user.md', text: '- Prefers short answers.\n' }];
  let sandboxes = [
    {
      conversation_id: 'ledger',
      title: 'Accept semicolon-separated CSV files',
      driver: 'docker',
      incarnation: '1',
      state: 'awake',
      uptime_seconds: 754,
      memory_bytes: 212_000_000,
      disk_bytes: 48_000_000,
      disk_is_complete: true,
    },
  ];
  const organisations = [{ id: 'default', name: 'default', role: 'owner' }];
  const user = (id, name, role, more = {}) => ({
    id,
    name,
    email: `${id}@example.org`,
    disabled: false,
    administers_server: false,
    created_at: at(),
    last_login_at: at(),
    organisations: [{ ...organisations[0], role }],
    ...more,
  });
  const users = [user('ann', 'Ann', 'owner', { administers_server: true }), user('ben', 'Ben', 'member')];
  return {
    'GET /api/whoami': () => ({
      has_users: true,
      scope: 'admin',
      administers_server: true,
      user: { id: 'ann', name: 'Ann' },
      organisation: organisations[0],
      organisations,
    }),
    'GET /api/users': () => ({ users, roles_by_group: false }),
    'PATCH /api/users/ben': async (request) => {
      const { role, ...rest } = await json(request);
      return Object.assign(users[1], rest, role && { organisations: [{ ...organisations[0], role }] });
    },
    'GET /api/models': () => ({
      models: [
        { model: 'demo', use: 'main', tools: true, parallel_calls: true, images: null, streaming: true, context_window: 200_000 },
        { model: 'demo/small', use: 'small', tools: null, parallel_calls: null, images: null, streaming: null, context_window: null },
      ],
    }),
    'POST /api/mcp/test': async (request) => {
      const { server } = await json(request);
      if (server.includes('tools.example')) return { tools: [{ name: 'find_page', description: '' }], failure: null };
      const isProgram = !server.startsWith('http');
      return { tools: [], failure: isProgram ? 'the program ended with exit code 127: npx: not found' : 'it answered with the status 401' };
    },
    'GET /api/keys': () => ({ keys }),
    'POST /api/keys': async (request) => {
      const made = { id: 'made', created_at: at(), expires_at: null, last_used_at: null, ...(await json(request)) };
      keys = [...keys, made];
      return { ...made, key: 'tk-made-up' };
    },
    'DELETE /api/keys/ci': () => ((keys = keys.filter(({ id }) => id !== 'ci')), { revoked: true }),
    'GET /api/push/devices': () => ({ application_server_key: `B${'A'.repeat(86)}`, devices }),
    'POST /api/push/devices': async (request, response) => {
      const { endpoint, device } = await json(request);
      const added = { id: endpoint.split('/').at(-1), device, created_at: at() };
      devices = [added, ...devices.filter(({ id }) => id !== added.id)];
      response.statusCode = 201;
      return added;
    },
    'DELETE /api/push/devices/phone': () => without('phone'),
    'DELETE /api/push/devices/this': () => without('this'),
    'GET /api/notes': () => ({ files: notes }),
    'PUT /api/notes': async (request, response) => {
      const { name, text, replaces } = await json(request);
      if (replaces !== undefined && notes.some((file) => file.name === name && file.text !== replaces)) {
        response.statusCode = 409;
        return { message: 'the notes were changed since they were read; look at them first' };
      }
      const file = { ...notes.find((one) => one.name === name), text };
      notes = notes.map((one) => (one.name === name ? file : one)).filter((one) => one.text !== '');
      return file;
    },
    'GET /api/sandboxes': () => ({ sandboxes }),
    'POST /api/sandboxes/ledger/stop': () => ((sandboxes = []), { stopped: true }),
    'POST /api/sandboxes/reclaim': () => ({ kept: 1, reaped: 2 }),
  };
}
