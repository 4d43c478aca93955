import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { OUTPUT_LIMITS, PLUGIN_NAMES } from '@tendon/runtime';
import { describe, expect, it } from 'vitest';
import { Environment, readConfig, type Config } from './config.ts';

function configOf(env: Record<string, string>): Config {
  const read = readConfig(env);
  if (!read.ok) throw new Error(read.problems.join('; '));
  return read.config;
}

describe('SV1: configuration', () => {
  it.each([
    [{ AGENT_ENABLE_BROWSING: 'false' }, false],
    [{ ENABLE_BROWSER: '0' }, false],
    [{ AGENT_ENABLE_BROWSING: 'True', ENABLE_BROWSER: 'false' }, true],
  ])('RT171: %j', (env, browsing) => expect(configOf(env)).toMatchObject({ browsing }));

  it('SV760: AGENT_TOOLS chooses among the optional tools, and a wrong name is refused', () => {
    expect(configOf({ AGENT_TOOLS: 'grep, task_tracker' })).toMatchObject({ tools: ['grep', 'task_tracker'] });
    expect(configOf({ AGENT_TOOLS: 'none' })).toMatchObject({ tools: [] });
    expect(readConfig({ AGENT_TOOLS: 'grep,rm' })).toMatchObject({
      problems: [expect.stringContaining('expected none, or some of task_tracker')],
    });
  });

  it('SV1100: TENDON_DATABASE_URL is an address of Postgres, and is not printed', () => {
    const url = 'postgres://me:hush-hush@db.example.org/tendon';
    expect(configOf({ TENDON_DATABASE_URL: url }).databaseUrl!.reveal()).toBe(url);
    const wrong = readConfig({ TENDON_DATABASE_URL: 'mysql://me:hush-hush@db/tendon' });
    expect(wrong).toMatchObject({ problems: [expect.stringMatching(/^TENDON_DATABASE_URL: .*postgres:\/\/USER/)] });
    expect(JSON.stringify(wrong)).not.toContain('hush-hush');
  });

  it('every variable stands in docs/settings.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../../docs/settings.md'), 'utf8');
    expect(Object.keys(Environment.shape).filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  });

  it.each([
    ['https://a/far', 'one, with a comma', ['https://a/far one, with a comma']],
    ['https://a, http://b:3001', 'one for both', ['https://a/ one for both', 'http://b:3001/ one for both']],
    ['https://a,https://b', 'the first, the second', ['https://a/ the first', 'https://b/ the second']],
  ])('SB1060: the hosts at "%s" have the keys of "%s"', (SANDBOX_REMOTE_RUNTIME_API_URL, SANDBOX_API_KEY, expected) => {
    const { executorHosts } = configOf({ SANDBOX_REMOTE_RUNTIME_API_URL, SANDBOX_API_KEY });
    expect(executorHosts.map(({ url, key }) => `${url.href} ${key?.reveal()}`)).toEqual(expected);
  });

  it('has a default for everything', () => {
    expect(configOf({})).toEqual({
      port: 3000,
      drainSeconds: 20,
      governance: { audits: false, limits: { maxWaiting: 20, server: {}, each: {} } },
      executorHosts: [],
      allowsChosenIds: false,
      confirmationMode: false,
      maxDelegateDepth: 1,
      isUnattended: false,
      invariantUrl: undefined,
      host: '127.0.0.1',
      browsing: true,
      tools: ['task_tracker', 'ask_user', 'grep', 'glob', 'recall', 'note'],
      home: join(homedir(), '.tendon'),
      databaseUrl: undefined,
      workspaceBase: undefined,
      allowedDirs: [],
      allowedHosts: [],
      corsOrigins: [],
      model: 'demo',
      maxModelRequests: 32,
      llmApiKey: undefined,
      llmBaseUrl: undefined,
      llmEffort: undefined,
      llmToolCalling: undefined,
      llmFallback: undefined,
      llmSmall: undefined,
      sessionApiKey: undefined,
      localToken: false,
      jwtSecret: undefined,
      previews: { scheme: 'http', domain: 'localhost' },
      webRoot: undefined,
      runtime: 'local',
      container: {
        ...{ image: 'python:3.12-bookworm', mayPull: true, network: 'proxy', volumes: [], ports: [], isRootReadOnly: false },
        ...{ host: undefined, userId: undefined, ociRuntime: undefined },
      },
      kubernetes: undefined,
      sandbox: {
        limits: {},
        idleSeconds: 900,
        maxSeconds: undefined,
        maxLive: 32,
        plugins: PLUGIN_NAMES,
        protects: ['.git', '.vscode', '.idea', '.envrc'],
        output: OUTPUT_LIMITS,
        noOutputSeconds: 10,
        checkpoints: true,
      },
      upstreamProxy: undefined,
      network: { mode: 'full', allow: [], allowPrivate: [] },
      clone: { timeoutSeconds: 900, maxBytes: 4 * 1024 ** 3 },
      logLevel: 'info',
    });
  });

  it('RT180: takes the names of plugins, or none of them', () => {
    expect(configOf({ SANDBOX_PLUGINS: 'jupyter, vscode,jupyter' }).sandbox.plugins).toEqual(['jupyter', 'vscode']);
    expect(configOf({ SANDBOX_PLUGINS: 'none' }).sandbox.plugins).toEqual([]);
    expect(readConfig({ SANDBOX_PLUGINS: 'jupiter' })).toMatchObject({ ok: false, problems: [expect.stringContaining('agent_skills')] });
  });

  it('SB476: takes what agents may not change in a person’s folder, or off', () => {
    expect(configOf({ SANDBOX_PROTECTED_PATHS: 'off' }).sandbox.protects).toEqual([]);
    expect(configOf({ SANDBOX_PROTECTED_PATHS: '.git, ci/deploy.sh,.claude/' }).sandbox.protects).toEqual([
      '.git',
      'ci/deploy.sh',
      '.claude',
    ]);
    for (const wrong of ['/etc', '../x', 'a//b', '.'])
      expect(readConfig({ SANDBOX_PROTECTED_PATHS: wrong })).toMatchObject({ problems: [expect.stringContaining('paths below')] });
  });

  it('takes a key without a model for gpt-4o, and an empty value for none', () => {
    expect(configOf({ LLM_API_KEY: 'sk-12345678' }).model).toBe('gpt-4o');
    expect(configOf({ LLM_API_KEY: 'sk-12345678', LLM_MODEL: 'anthropic/claude' }).model).toBe('anthropic/claude');
    expect(configOf({ LLM_API_KEY: 'k' }).llmApiKey?.reveal()).toBe('k');
    expect(configOf({ LLM_API_KEY: '', PORT: ' ' })).toMatchObject({ model: 'demo', port: 3000 });
  });

  it('SB90: takes sizes with units and the names that peers have', () => {
    const env = { SANDBOX_MEMORY: '1.5g', SANDBOX_FILE_SIZE: '512 MiB', SANDBOX_CLOSE_DELAY: '60' };
    expect(configOf({ ...env, SANDBOX_CPUS: '0.5', SANDBOX_PROCESSES: '99', MAX_CONCURRENT_CONVERSATIONS: '3' }).sandbox).toEqual({
      limits: { memoryBytes: 1.5 * 1024 ** 3, fileBytes: 512 * 1024 ** 2, cpus: 0.5, processes: 99 },
      idleSeconds: 60,
      maxSeconds: undefined,
      plugins: PLUGIN_NAMES,
      protects: ['.git', '.vscode', '.idea', '.envrc'],
      output: OUTPUT_LIMITS,
      noOutputSeconds: 10,
      maxLive: 3,
      checkpoints: true,
    });
    expect([configOf({ SANDBOX_DISK: '0' }), configOf({ SANDBOX_DISK: '20g' })].map(({ sandbox }) => sandbox.limits.diskBytes)).toEqual([
      Infinity,
      20 * 1024 ** 3,
    ]);
    expect(readConfig({ SANDBOX_DISK: '1m' })).toMatchObject({ problems: ['SANDBOX_DISK: at least 16m is needed, or 0 for no limit'] });
    const wrong = readConfig({ SANDBOX_MEMORY: 'much', SANDBOX_FILE_SIZE: '1m', SANDBOX_MAX_LIVE: '0' });
    expect(wrong).toMatchObject({ ok: false, problems: expect.arrayContaining([expect.stringMatching(/^SANDBOX_MEMORY: a size/)]) });
    expect(wrong.ok ? [] : wrong.problems).toHaveLength(3);
  });

  it('RT222: takes limits of output, and one output fits among all', () => {
    const env = { SANDBOX_OUTPUT_CHARS: '2000', SANDBOX_OUTPUT_FILE_SIZE: '3g', SANDBOX_NO_OUTPUT_SECONDS: '2.5' };
    expect(configOf(env).sandbox).toMatchObject({
      ...{ output: { chars: 2000, fileBytes: 3 * 1024 ** 3, folderBytes: 6 * 1024 ** 3 }, noOutputSeconds: 2.5 },
    });
    expect(configOf({ SANDBOX_OUTPUT_SIZE: '64m' }).sandbox.output).toMatchObject({
      fileBytes: 64 * 1024 ** 2,
      folderBytes: 64 * 1024 ** 2,
    });
    const wrong = readConfig({ SANDBOX_OUTPUT_CHARS: '30001', SANDBOX_OUTPUT_SIZE: '9k', SANDBOX_NO_OUTPUT_SECONDS: '0' });
    expect(wrong.ok ? [] : wrong.problems).toEqual([
      'SANDBOX_OUTPUT_CHARS: at most 30000: more no client is given',
      'SANDBOX_OUTPUT_SIZE: at least 1m is needed',
      'SANDBOX_NO_OUTPUT_SECONDS: at least 1 is needed',
    ]);
  });

  it('finds the proxy of the host in either letter case', () => {
    expect(configOf({ https_proxy: 'http://proxy.corp:3128', NO_PROXY: '.corp' }).upstreamProxy).toEqual({
      url: new URL('http://proxy.corp:3128'),
      except: '.corp',
      resolves: false,
    });
    expect(configOf({ HTTPS_PROXY: 'http://proxy.corp:3128', SANDBOX_PROXY_RESOLVES: '1' }).upstreamProxy?.resolves).toBe(true);
  });

  it('makes paths absolute and lists lists', () => {
    expect(configOf({ TENDON_HOME: '~/x', TENDON_ALLOWED_DIRS: '/a, ~/b ,', TENDON_ALLOWED_HOSTS: 'Box.lan' })).toMatchObject({
      home: join(homedir(), 'x'),
      allowedDirs: ['/a', join(homedir(), 'b')],
      allowedHosts: ['box.lan'],
    });
    expect(configOf({ PERMITTED_CORS_ORIGINS: 'https://a.example/,b.example:8080' }).corsOrigins).toEqual([
      'https://a.example',
      'http://b.example:8080',
      'https://b.example:8080',
    ]);
  });

  it.each([
    ['eventstream', 'docker'],
    ['server', 'local'],
  ])('SV223: the runtime %s of OpenDevin is %s here', (name, runtime) => {
    expect(configOf({ RUNTIME: name })).toMatchObject({ runtime });
  });

  it.each([
    [{ PORT: 'x' }, 'PORT: a number is expected'],
    [{ PORT: '70000' }, 'PORT: ports end at 65535'],
    [{ RUNTIME: 'magic' }, 'RUNTIME: expected local, docker, remote, kubernetes, or none to run without a sandbox'],
    [{ SESSION_API_KEY: 'fifteen-letters' }, 'SESSION_API_KEY: at least 16 characters are needed, shorter ones can be guessed'],
    [{ SECURITY_INVARIANT_URL: 'invariant:8000' }, 'SECURITY_INVARIANT_URL: an http:// or https:// address is expected'],
    [{ LLM_BASE_URL: 'file:///etc' }, 'LLM_BASE_URL: an http:// or https:// address is expected'],
    [{ RUNTIME: 'remote' }, 'SANDBOX_REMOTE_RUNTIME_API_URL: the address of `tendon executor` is needed with RUNTIME=remote'],
    [
      { SANDBOX_REMOTE_RUNTIME_API_URL: 'https://a,https://b,https://c', SANDBOX_API_KEY: 'the first,the second' },
      'SANDBOX_API_KEY: one key for all, or 3 keys with commas between them are expected, one for each address',
    ],
    [{ SANDBOX_REMOTE_RUNTIME_API_URL: 'https://a,https://a/' }, 'SANDBOX_REMOTE_RUNTIME_API_URL: an address stands there twice'],
    [
      { SANDBOX_REMOTE_RUNTIME_API_URL: 'https://a,https://b', SANDBOX_API_KEY: 'the first,2' },
      'SANDBOX_API_KEY: a key of several is too short',
    ],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL: expected one of trace, debug, info, warn, error, fatal, silent'],
  ])('names what is wrong with %o on one line', (env, problem) => {
    expect(readConfig(env)).toEqual({ ok: false, problems: [problem] });
  });

  it('LM941, LM942: a model of a cloud has the account of the environment, and no other model has', () => {
    const aws = { AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE', AWS_SECRET_ACCESS_KEY: 'x'.repeat(40), AWS_REGION: 'eu-west-1' };
    const { llmApiKey, llmBaseUrl, llmFallback } = configOf({
      ...{ ...aws, AWS_SESSION_TOKEN: 'y'.repeat(20) },
      ...{ LLM_MODEL: 'anthropic/claude-sonnet-4-5', LLM_API_KEY: 'sk-own', LLM_FALLBACK_MODEL: 'bedrock/amazon.nova-pro-v1:0' },
    });
    expect([llmApiKey?.reveal(), llmBaseUrl]).toEqual(['sk-own', undefined]);
    expect(llmFallback?.apiKey?.reveal()).toBe(`AKIAIOSFODNN7EXAMPLE:${'x'.repeat(40)}:${'y'.repeat(20)}`);
    expect(llmFallback?.baseUrl).toBe('https://bedrock-runtime.eu-west-1.amazonaws.com');
    expect(configOf({ ...aws, LLM_MODEL: 'bedrock/amazon.nova-pro-v1:0', LLM_API_KEY: 'own-key' }).llmApiKey?.reveal()).toBe('own-key');
    const vertex = { LLM_MODEL: 'vertex_ai/gemini-2.5-pro', GOOGLE_APPLICATION_CREDENTIALS: join(import.meta.dirname, 'config.test.ts') };
    expect(configOf(vertex).llmApiKey?.reveal()).toContain('GOOGLE_APPLICATION_CREDENTIALS');
    expect(configOf({ ...vertex, GOOGLE_APPLICATION_CREDENTIALS: '/not/there' }).llmApiKey).toBeUndefined();
    expect(configOf({ ...vertex, VERTEXAI_LOCATION: 'europe-west1', VERTEXAI_PROJECT: 'p' }).llmBaseUrl).toBe(
      'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1',
    );
  });

  it('never prints a secret', () => {
    expect(JSON.stringify(configOf({ LLM_API_KEY: 'sk-verysecret', SESSION_API_KEY: 'alsosecret-and-long' }))).not.toMatch(/secret"/);
  });
});
