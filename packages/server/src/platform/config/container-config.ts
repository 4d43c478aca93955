import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { DockerDriverOptions } from '@tendon/runtime';
import { z } from 'zod';
import { flag, list } from './environment-values.ts';

/** Sandboxes in containers (`RUNTIME=docker`). */
export type ContainerConfig = Required<
  Pick<DockerDriverOptions, 'image' | 'mayPull' | 'network' | 'volumes' | 'ports' | 'isRootReadOnly'>
> &
  Pick<DockerDriverOptions, 'host' | 'userId' | 'ociRuntime'>;

const USUAL_IMAGE = 'python:3.12-bookworm';
const PORT = /^(?:(\[[0-9a-fA-F:]+\]|[\d.]+):)?(?:(\d{1,5}):)?(\d{1,5})$/;
const WORKSPACE = '/workspace';
/** Where our own things are inside. */
const TAKEN = ['/', '/home/tendon', '/opt/tendon', '/run/tendon', '/var/lib/tendon', '/etc/passwd', '/etc/group', '/proc', '/sys', '/dev'];

const reference = z.string().regex(/^[\w][\w./:@-]*$/, 'the name of an image is expected, like debian:bookworm');

/** Each as the environment names it; the names of 0.62 where it has them. */
export const ContainerEnvironment = z.object({
  DOCKER_HOST: z.string().optional(),
  SANDBOX_CONTAINER_HOST: z.string().optional(),
  SANDBOX_BASE_CONTAINER_IMAGE: reference.optional(),
  SANDBOX_RUNTIME_CONTAINER_IMAGE: reference.optional(),
  SANDBOX_PULL: z.enum(['missing', 'never'], 'expected missing or never').default('missing'),
  SANDBOX_USER_ID: z.coerce
    .number('a user id is expected')
    .int('a user id is expected')
    .min(1, 'a sandbox is never root on the host: leave it out, or name an ordinary user')
    .max(2 ** 31 - 1)
    .optional(),
  SANDBOX_CONTAINER_NETWORK: z
    .enum(['proxy', 'engine'], 'expected proxy, or engine to go past Tendon through the network of the engine')
    .default('proxy'),
  SANDBOX_READ_ONLY: flag.default(false),
  SANDBOX_OCI_RUNTIME: z
    .string()
    .regex(/^\w[\w.-]*$/, 'the name of a runtime of the engine is expected, like runsc')
    .optional(),
  SANDBOX_VOLUMES: list.transform((entries, context) => entries.map((entry) => volume(entry, context))).default([]),
  SANDBOX_PORTS: list.transform((entries, context) => entries.map((entry) => port(entry, context))).default([]),
});

type Values = z.output<typeof ContainerEnvironment>;

export function containerConfig(values: Values): ContainerConfig {
  return {
    host: values.SANDBOX_CONTAINER_HOST ?? values.DOCKER_HOST,
    image: values.SANDBOX_RUNTIME_CONTAINER_IMAGE ?? values.SANDBOX_BASE_CONTAINER_IMAGE ?? USUAL_IMAGE,
    mayPull: values.SANDBOX_PULL === 'missing',
    userId: values.SANDBOX_USER_ID,
    network: values.SANDBOX_CONTAINER_NETWORK,
    isRootReadOnly: values.SANDBOX_READ_ONLY,
    ociRuntime: values.SANDBOX_OCI_RUNTIME,
    volumes: values.SANDBOX_VOLUMES.filter(({ target }) => target !== WORKSPACE),
    ports: values.SANDBOX_PORTS,
  };
}

/** 0.62 names the workspace as a volume too. */
export function workspaceVolume(values: Values): string | undefined {
  return values.SANDBOX_VOLUMES.find(({ target }) => target === WORKSPACE)?.source;
}

/** `/host/folder:/inside[:ro|:rw]`. */
function volume(entry: string, context: z.RefinementCtx) {
  const [source = '', target = '', mode = 'rw', ...rest] = entry.split(':');
  const problem = volumeProblem({ source, target, mode }, rest.length);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: `${entry}: ${problem}` });
  return { source: resolve(source.replace(/^~(?=\/|$)/, homedir())), target, readOnly: mode === 'ro' };
}

function volumeProblem({ source, target, mode }: Readonly<Record<'source' | 'target' | 'mode', string>>, rest: number): string | undefined {
  if (!/^[~/]/.test(source) || !target.startsWith('/') || rest > 0) return '/folder/of/the/host:/folder/inside is expected';
  if (!['ro', 'rw'].includes(mode)) return 'after the folders, ro or rw is expected';
  if (source.endsWith('.sock')) return 'a socket of the host would be an escape from the sandbox';
  const path = resolve(target);
  if (TAKEN.some((taken) => path === taken || (taken !== '/' && path.startsWith(`${taken}/`)))) return `${target} is taken inside`;
  if (mode === 'ro' && path === WORKSPACE) return 'the workspace cannot be read-only';
  return undefined;
}

/** `[address:][host port:]port inside`; on loopback when no address is given. */
function port(entry: string, context: z.RefinementCtx) {
  const [, address = '127.0.0.1', host, inside = ''] = PORT.exec(entry) ?? [];
  const isPort = (text: string): boolean => Number(text) >= 1 && Number(text) <= 65_535;
  if (!isPort(inside) || !isPort(host ?? inside))
    context.addIssue({ code: 'custom', message: `${entry}: 8080 or 127.0.0.1:3001:8080 is expected` });
  return { address: address.replace(/^\[(.*)\]$/, '$1'), host: Number(host ?? inside), inside: Number(inside) };
}
