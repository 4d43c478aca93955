import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { OPTIONAL_TOOL_NAMES, USUAL_TOOLS, type OptionalTool } from '@tendon/core';
import { MIN_SECRET_LENGTH, Secret } from '@tendon/protocol/masking';
import { GivenMcpConfig, type McpConfig } from '@tendon/protocol';
import { z } from 'zod';
import { LOOPBACK_SITE, parsePreviewSite, type PreviewSite } from '../preview-site.ts';
import { BlobsEnvironment, blobsConfig, type BlobsConfig } from './blobs-config.ts';
import { ClusterEnvironment, clusterConfig, type ClusterConfig } from './cluster-config.ts';
import { ContainerEnvironment, containerConfig, workspaceVolume, type ContainerConfig } from './container-config.ts';
import { KubernetesEnvironment, kubernetesConfig } from './kubernetes-config.ts';
import { count, flag, json, list, seconds } from './environment-values.ts';
import { executorHostsConfig, type ExecutorHost } from './executor-hosts-config.ts';
import { GovernanceEnvironment, governanceConfig, type GovernanceConfig } from './governance-config.ts';
import { ModelEnvironment, modelConfig, type ModelConfig } from './model-config.ts';
import type { KubernetesOptions, NetworkPolicy } from '@tendon/runtime';
import { NetworkEnvironment, networkConfig, CloneEnvironment, cloneConfig, type CloneLimits } from './network-config.ts';
import { TracingEnvironment, tracingConfig, type TracingConfig } from './tracing-config.ts';
import { SandboxEnvironment, sandboxConfig, type SandboxConfig } from './sandbox-config.ts';
import { UsersEnvironment, usersConfig, type OidcConfig } from './users-config.ts';

/** Where the server listens, and what it shows there. */
export interface HttpConfig {
  readonly port: number;
  readonly host: string;
  /** Absolute; another built frontend that is served at `/` in place of ours. */
  readonly webRoot: string | undefined;
  /** Where what agents serve is shown. */
  readonly previews: PreviewSite;
}

/** Who may use the server, or an executor host. */
export interface AccessConfig {
  /** Names that the `Host` header may have beside the loopback ones; `*` allows every name. */
  readonly allowedHosts: readonly string[];
  /** Origins that may use the API from a browser, beside our own and the loopback ones. */
  readonly corsOrigins: readonly string[];
  readonly sessionApiKey: Secret | undefined;
  /** Whether a server on loopback has a key too: without one every user of this machine is its owner. */
  readonly localToken: boolean;
  /** Unset: generated and stored in `home`. */
  readonly jwtSecret: Secret | undefined;
  /** The identity provider of the server's users. Unset: there are none, and nothing of them is loaded. */
  readonly oidc: OidcConfig | undefined;
  /** What `tendon executor` asks of who comes in: the key, or a file that holds it. */
  readonly executorKey: Secret | undefined;
  readonly executorKeyFile: string | undefined;
}

/** The folders of this machine that it works in. */
export interface FolderConfig {
  /** Absolute; where Tendon keeps what it must remember. */
  readonly home: string;
  /** Absolute; the folder agents work in. Unset: each conversation has a folder of its own under `home`. */
  readonly workspaceBase: string | undefined;
  /** Absolute; folders beside the base that clients may name. */
  readonly allowedDirs: readonly string[];
}

/** Where sandboxes run, what they may use, and how they reach the network. */
export interface SandboxesConfig {
  readonly runtime: 'local' | 'docker' | 'remote' | 'kubernetes' | 'none';
  /** Where sandboxes run with the runtime `remote`: the addresses of `tendon executor`, and their keys. */
  readonly executorHosts: readonly ExecutorHost[];
  readonly sandbox: SandboxConfig;
  readonly container: ContainerConfig;
  /** Where sandboxes are pods. */
  readonly kubernetes: KubernetesOptions | undefined;
  /** The most that a conversation's sandbox can reach, and what it reaches by default. */
  readonly network: NetworkPolicy;
  /** What the clone of a conversation's repository may take. */
  readonly clone: CloneLimits;
  /** The proxy this host must use to get out, the names it is not used for, and whether sandboxes' names are left to it. */
  readonly upstreamProxy: { readonly url: URL; readonly except: string; readonly resolves: boolean } | undefined;
}

/** Whether sandboxes are on other machines, so that no path of this one means anything to them. */
export function hasRemoteSandboxes(runtime: SandboxesConfig['runtime'] | undefined): boolean {
  return runtime === 'remote' || runtime === 'kubernetes';
}

/** What conversations may do, and the defaults of those whose user chose nothing else. */
export interface ConversationConfig {
  /** Whether agents are offered the browser. */
  readonly browsing: boolean;
  /** Tools that agents are offered beside those that all have. */
  readonly tools: readonly OptionalTool[];
  /** Whether clients may choose the ids of their conversations. */
  readonly allowsChosenIds: boolean;
  readonly maxIterations: number | undefined;
  readonly maxBudgetUsd: number | undefined;
  /** How many levels of agents may delegate, one to the other. */
  readonly maxDelegateDepth: number;
  readonly confirmationMode: boolean;
  /** Nobody decides: what would wait for a person is denied. */
  readonly isUnattended: boolean;
  /** The server of the security analyzer `invariant`; without it that analyzer is not offered. */
  readonly invariantUrl: URL | undefined;
  /** MCP servers for every conversation, beside those of the settings. */
  readonly mcpServers: McpConfig | undefined;
  /** For searching the web, where the settings have none. */
  readonly searchApiKey: Secret | undefined;
}

/** Everything that is configured from outside, by capability. This file is the only reader of the environment. */
export interface Config extends HttpConfig, AccessConfig, FolderConfig, ModelConfig, SandboxesConfig, ConversationConfig {
  /** The Postgres that has the conversations, settings and keys instead of the home; the address, with its password. */
  readonly databaseUrl: Secret | undefined;
  /** How long a server that leaves may take to hand over what it works on; only where others can take it. */
  readonly drainSeconds: number;
  /** Unset: it has its storage alone. */
  readonly cluster: ClusterConfig | undefined;
  readonly logLevel: LogLevel;
  /** Unset: blobs are files in `home`. */
  readonly blobs: BlobsConfig | undefined;
  readonly governance: GovernanceConfig;
  /** Unset: there are no traces, and nothing of them is loaded. */
  readonly tracing: TracingConfig | undefined;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A name of the environment and what is wrong with its value, on one line. */
export type ConfigResult = { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly problems: readonly string[] };

const path = z.string().transform((value) => resolve(value.replace(/^~(?=\/|$)/, homedir())));
const secret = z
  .string()
  .min(MIN_SECRET_LENGTH, `at least ${MIN_SECRET_LENGTH} characters are needed, shorter ones cannot be hidden in logs`)
  .transform((value) => new Secret(value));
/** Of a key that opens the server or its sandboxes: shorter ones can be guessed. */
export const MIN_ACCESS_KEY_LENGTH = 16;
const accessKey = z
  .string()
  .min(MIN_ACCESS_KEY_LENGTH, `at least ${MIN_ACCESS_KEY_LENGTH} characters are needed, shorter ones can be guessed`)
  .transform((value) => new Secret(value));
const url = z.url({ protocol: /^https?$/, error: 'an http:// or https:// address is expected' });

/** The runtimes of OpenDevin's `config.toml`: a client in a container of any image, and the server's own sandbox, which was its default as `local` is ours. */
const RUNTIMES_OF_OPENDEVIN: Readonly<Record<string, string>> = { eventstream: 'docker', server: 'local' };

/** An origin without a scheme (as 0.62 documents it) means both schemes. */
const origins = list.transform((entries) =>
  entries.flatMap((entry) =>
    entry === '*' || entry.includes('://') ? [entry.replace(/\/+$/, '')] : [`http://${entry}`, `https://${entry}`],
  ),
);

const tools = z
  .string()
  .transform((text) => (text.trim() === 'none' ? [] : text.split(',').map((name) => name.trim())))
  .pipe(z.array(z.enum(OPTIONAL_TOOL_NAMES, `expected none, or some of ${OPTIONAL_TOOL_NAMES.join(', ')}, separated by commas`)));

/**
 * Every variable; docs/settings.md names each of them.
 * @internal
 */
export const Environment = z.object({
  PORT: z.coerce.number('a number is expected').int('a whole number is expected').min(0).max(65_535, 'ports end at 65535').default(3000),
  HOST: z.string().default('127.0.0.1'),
  TENDON_DATABASE_URL: z
    .string()
    .regex(/^postgres(?:ql)?:\/\/./, 'an address as postgres://USER:PASSWORD@HOST:5432/DATABASE is expected')
    .transform((value) => new Secret(value))
    .optional(),
  TENDON_DRAIN_SECONDS: seconds(0).default(20),
  TENDON_HOME: path.default(() => join(homedir(), '.tendon')),
  WORKSPACE_BASE: path.optional(),
  TENDON_ALLOWED_DIRS: list.transform((entries) => entries.map((entry) => path.parse(entry))).default([]),
  TENDON_PREVIEW_DOMAIN: z
    .string()
    .transform((text, { addIssue }) => {
      const site = parsePreviewSite(text);
      if (!site)
        addIssue(
          'a name of at least two parts is expected, such as previews.example.org, with https:// before it and a port behind it where need be',
        );
      return site;
    })
    .optional(),
  TENDON_WEB_ROOT: path.refine((root) => existsSync(join(root, 'index.html')), 'a folder with an index.html is expected').optional(),
  TENDON_ALLOWED_HOSTS: list.transform((entries) => entries.map((entry) => entry.toLowerCase())).default([]),
  PERMITTED_CORS_ORIGINS: origins.default([]),
  SESSION_API_KEY: accessKey.optional(),
  TENDON_LOCAL_TOKEN: flag.default(false),
  JWT_SECRET: secret.optional(),
  /** The second is the name of older releases. */
  AGENT_ENABLE_BROWSING: flag.optional(),
  ENABLE_BROWSER: flag.optional(),
  AGENT_TOOLS: tools.default([...USUAL_TOOLS]),
  RUNTIME: z.preprocess(
    (name) => (typeof name === 'string' && Object.hasOwn(RUNTIMES_OF_OPENDEVIN, name) ? RUNTIMES_OF_OPENDEVIN[name] : name),
    z
      .enum(
        ['local', 'docker', 'remote', 'kubernetes', 'none'],
        'expected local, docker, remote, kubernetes, or none to run without a sandbox',
      )
      .default('local'),
  ),
  SANDBOX_REMOTE_RUNTIME_API_URL: list.pipe(z.array(url)).default([]),
  SANDBOX_API_KEY: secret.optional(),
  TENDON_EXECUTOR_KEY: accessKey.optional(),
  TENDON_EXECUTOR_KEY_FILE: path.optional(),
  HTTPS_PROXY: url.optional(),
  NO_PROXY: z.string().default(''),
  ALLOW_SET_CONVERSATION_ID: flag.default(false),
  MAX_ITERATIONS: count(1).optional(),
  MAX_BUDGET_PER_TASK: z.coerce.number('US dollars are expected').min(0, 'no less than 0').optional(),
  MAX_DELEGATE_DEPTH: z.coerce
    .number('a number is expected')
    .int('a whole number is expected')
    .min(1, 'at least 1')
    .max(3, 'at most 3')
    .default(1),
  SECURITY_CONFIRMATION_MODE: flag.default(false),
  SECURITY_UNATTENDED: flag.default(false),
  SECURITY_INVARIANT_URL: url.optional(),
  MCP_CONFIG: json(GivenMcpConfig).optional(),
  SEARCH_API_KEY: secret.optional(),
  LOG_LEVEL: z
    .string()
    .transform((value) =>
      value
        .toLowerCase()
        .replace(/^warning$/, 'warn')
        .replace(/^critical$/, 'fatal'),
    )
    .pipe(z.enum(LOG_LEVELS, `expected one of ${LOG_LEVELS.join(', ')}`))
    .default('info'),
  ...ModelEnvironment.shape,
  ...SandboxEnvironment.shape,
  ...NetworkEnvironment.shape,
  ...CloneEnvironment.shape,
  ...ContainerEnvironment.shape,
  ...KubernetesEnvironment.shape,
  ...TracingEnvironment.shape,
  ...BlobsEnvironment.shape,
  ...GovernanceEnvironment.shape,
  ...UsersEnvironment.shape,
  ...ClusterEnvironment.shape,
});

/** Reads the configuration from `env` (as `process.env`); empty values count as unset. Never throws. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): ConfigResult {
  // Once in a process: a parser made for it would cost more than it saves.
  const parsed = Environment.safeParse(withProxyNames(withoutEmpty(env)), { jitless: true });
  if (!parsed.success) return { ok: false, problems: parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) };
  const values = parsed.data;
  const executorHosts = executorHostsConfig(values);
  if (typeof executorHosts === 'string') return { ok: false, problems: [executorHosts] };
  const blobs = blobsConfig(values);
  if (typeof blobs === 'string') return { ok: false, problems: [blobs] };
  const oidc = usersConfig(values);
  if (typeof oidc === 'string') return { ok: false, problems: [oidc] };
  const cluster = clusterConfig(values);
  if (typeof cluster === 'string') return { ok: false, problems: [cluster] };
  const places = sandboxPlaces(values);
  if (typeof places === 'string') return { ok: false, problems: [places] };
  return {
    ok: true,
    config: {
      port: values.PORT,
      host: values.HOST,
      home: values.TENDON_HOME,
      databaseUrl: values.TENDON_DATABASE_URL,
      drainSeconds: values.TENDON_DRAIN_SECONDS,
      workspaceBase: values.WORKSPACE_BASE ?? workspaceVolume(values),
      allowedDirs: values.TENDON_ALLOWED_DIRS,
      allowedHosts: values.TENDON_ALLOWED_HOSTS,
      corsOrigins: values.PERMITTED_CORS_ORIGINS,
      ...modelConfig(values),
      sessionApiKey: values.SESSION_API_KEY,
      localToken: values.TENDON_LOCAL_TOKEN,
      jwtSecret: values.JWT_SECRET,
      oidc,
      runtime: values.RUNTIME,
      executorHosts,
      executorKey: values.TENDON_EXECUTOR_KEY,
      executorKeyFile: values.TENDON_EXECUTOR_KEY_FILE,
      ...places,
      network: networkConfig(values),
      clone: cloneConfig(values),
      upstreamProxy: upstreamProxy(values),
      webRoot: values.TENDON_WEB_ROOT,
      previews: values.TENDON_PREVIEW_DOMAIN ?? LOOPBACK_SITE,
      tools: values.AGENT_TOOLS,
      browsing: values.AGENT_ENABLE_BROWSING ?? values.ENABLE_BROWSER ?? true,
      allowsChosenIds: values.ALLOW_SET_CONVERSATION_ID,
      maxIterations: values.MAX_ITERATIONS,
      maxBudgetUsd: values.MAX_BUDGET_PER_TASK,
      maxDelegateDepth: values.MAX_DELEGATE_DEPTH,
      confirmationMode: values.SECURITY_CONFIRMATION_MODE,
      isUnattended: values.SECURITY_UNATTENDED,
      invariantUrl: values.SECURITY_INVARIANT_URL === undefined ? undefined : new URL(values.SECURITY_INVARIANT_URL),
      mcpServers: values.MCP_CONFIG,
      searchApiKey: values.SEARCH_API_KEY,
      logLevel: values.LOG_LEVEL,
      tracing: tracingConfig(values),
      governance: governanceConfig(values, { isShared: values.TENDON_DATABASE_URL !== undefined }),
      blobs,
      cluster,
    },
  };
}

function withoutEmpty(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''));
}

function upstreamProxy({ HTTPS_PROXY: address, NO_PROXY: except, SANDBOX_PROXY_RESOLVES: resolves }: z.output<typeof Environment>) {
  return address ? { url: new URL(address), except, resolves } : undefined;
}

/** What sandboxes are made with, whichever driver makes them; or what the chosen one lacks. */
function sandboxPlaces(values: z.output<typeof Environment>): Pick<SandboxesConfig, 'sandbox' | 'container' | 'kubernetes'> | string {
  const sandbox = sandboxConfig(values);
  const container = containerConfig(values);
  const kubernetes = values.RUNTIME === 'kubernetes' ? kubernetesConfig(values, { container, limits: sandbox.limits }) : undefined;
  return typeof kubernetes === 'string' ? kubernetes : { sandbox, container, kubernetes };
}

/** Proxies are named in either letter case; the one for HTTPS counts, since the egress proxy makes tunnels. */
function withProxyNames(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
  const first = (...names: readonly string[]): string | undefined => names.map((name) => env[name]).find((value) => value !== undefined);
  return {
    ...env,
    HTTPS_PROXY: first('HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'),
    NO_PROXY: first('NO_PROXY', 'no_proxy'),
  };
}
