import type { Limits } from '../../processes/control-group.ts';
import { INJECTED } from '../start/injected-places.ts';
import type { ContainerUser } from './container-user.ts';
import type { EngineFacts } from './engine/engine-facts.ts';

/** `proxy`: none but our proxy, which the inside reaches by a socket and which holds the policy. `engine`: the engine's own, past it. */
export type ContainerNetwork = 'proxy' | 'engine';

export interface ContainerBind {
  readonly source: string;
  readonly target: string;
  readonly readOnly?: boolean;
}

/** A port of the container that is published on the host. */
export interface PublishedPort {
  readonly inside: number;
  readonly host: number;
  readonly address: string;
}

/** The program, and the user that it runs as. */
interface ContainerProgram {
  readonly image: string;
  readonly imageEnvironment: Readonly<Record<string, string>>;
  readonly user: ContainerUser;
  readonly command: readonly string[];
}

/** The parts of the host that it can reach. */
interface ContainerReach {
  readonly network: ContainerNetwork;
  readonly ports: readonly PublishedPort[];
  readonly binds: readonly ContainerBind[];
  /** Paths inside that an empty, read-only folder covers. */
  readonly masks: readonly string[];
  readonly isRootReadOnly: boolean;
}

export interface ContainerPlan extends ContainerProgram, ContainerReach {
  readonly facts: EngineFacts;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly ociRuntime?: string | undefined;
  /** The profile itself for Docker, the path of its file for Podman. */
  readonly seccomp: string;
}

export const CONTAINER_HOME = '/home/tendon';
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** A container engine that may not raise limits itself refuses higher ones. */
const MOST_OPEN_FILES = 20_000;
const CPU_PERIOD_US = 100_000;
const MASK = 'ro,nosuid,nodev,noexec,mode=0555,size=4k';
/** Variables of the image that would affect the executor's own Node and loader. */
const STEERING = /^(?:NODE_|LD_|GLIBC_|MALLOC_|UV_|OPENSSL_)/;

/** The body of `POST /containers/create`. Pure. */
export function containerRequest(plan: ContainerPlan): Readonly<Record<string, unknown>> {
  const ports = plan.network === 'engine' ? plan.ports : [];
  return {
    Image: plan.image,
    Hostname: 'tendon',
    User: `${plan.user.uid}:${plan.user.gid}`,
    WorkingDir: '/workspace',
    Entrypoint: plan.command,
    Cmd: [],
    Env: Object.entries(insideEnvironment(plan.imageEnvironment)).map(([name, value]) => `${name}=${value}`),
    Labels: plan.labels,
    Healthcheck: { Test: ['NONE'] },
    ExposedPorts: Object.fromEntries(ports.map(({ inside }) => [`${inside}/tcp`, {}])),
    HostConfig: { ...mounts(plan), ...isolation(plan), ...limits(plan.limits), ...network(plan, ports) },
  };
}

function mounts({ binds, masks, facts, isRootReadOnly, limits: { tmpBytes } }: ContainerPlan): Readonly<Record<string, unknown>> {
  // Podman copies the content of the path into a tmpfs there, which is exactly what must stay hidden.
  const mask = facts.isPodman ? `${MASK},notmpcopyup` : MASK;
  const tmp = `rw,nosuid,nodev,exec,mode=1777,size=${tmpBytes}`;
  return {
    Mounts: binds.map(({ source, target, readOnly = false }) => ({
      Type: 'bind',
      Source: source,
      Target: target,
      ReadOnly: readOnly,
      BindOptions: { Propagation: 'rprivate' },
    })),
    Tmpfs: { '/tmp': tmp, '/var/tmp': tmp, ...Object.fromEntries(masks.map((path) => [path, mask])) },
    ShmSize: tmpBytes,
    ReadonlyRootfs: isRootReadOnly,
  };
}

/**
 * /proc is not masked: the user inside is nobody special on the host, which guards it by user id, and the kernel makes no /proc
 * for the namespace around the agent's processes where a part of the outer one is covered.
 */
function isolation({ facts, seccomp, user, ociRuntime }: ContainerPlan): Readonly<Record<string, unknown>> {
  return {
    ...(ociRuntime !== undefined && { Runtime: ociRuntime }),
    CapDrop: ['ALL'],
    SecurityOpt: [
      'no-new-privileges',
      `seccomp=${seccomp}`,
      ...(facts.isPodman ? ['unmask=/proc/*'] : []),
      ...(facts.hasSelinux ? ['label=disable'] : []),
    ],
    ...(!facts.isPodman && { MaskedPaths: ['/sys/firmware'], ReadonlyPaths: [] }),
    ...(user.userns !== undefined && { UsernsMode: user.userns }),
    CgroupnsMode: 'private',
    IpcMode: 'private',
    RestartPolicy: { Name: 'no' },
    LogConfig: { Type: 'json-file', Config: { 'max-size': '1m' } },
  };
}

function limits({ memoryBytes, processes, cpus, fileBytes, openFiles }: Limits): Readonly<Record<string, unknown>> {
  const files = Math.min(openFiles, MOST_OPEN_FILES);
  const ulimit = (name: string, value: number) => ({ Name: name, Soft: value, Hard: value });
  return {
    Memory: memoryBytes,
    MemorySwap: memoryBytes,
    PidsLimit: processes,
    CpuPeriod: CPU_PERIOD_US,
    CpuQuota: Math.round(cpus * CPU_PERIOD_US),
    // Each by name: an engine's own default for one that is missing may be more than it is allowed to give.
    Ulimits: [ulimit('nofile', files), ulimit('nproc', MOST_OPEN_FILES), ulimit('core', 0), ulimit('fsize', fileBytes)],
  };
}

function network(plan: ContainerPlan, ports: readonly PublishedPort[]): Readonly<Record<string, unknown>> {
  return {
    NetworkMode: plan.network === 'engine' ? (plan.facts.isRootless && plan.facts.isPodman ? 'slirp4netns' : 'bridge') : 'none',
    PortBindings: Object.fromEntries(
      ports.map(({ inside, host, address }) => [`${inside}/tcp`, [{ HostIp: address, HostPort: String(host) }]]),
    ),
  };
}

/** The executor's own; what the image wants for every program goes to the shells only. */
function insideEnvironment(ofImage: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const silenced = Object.keys(ofImage).filter((name) => STEERING.test(name));
  return {
    ...Object.fromEntries(silenced.map((name) => [name, ''])),
    PATH: `${ofImage.PATH || USUAL_PATH}:${INJECTED.bin}`,
    HOME: CONTAINER_HOME,
    USER: 'tendon',
    LOGNAME: 'tendon',
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
  };
}
