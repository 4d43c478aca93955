/** A refusal of an engine, in its own words, with the HTTP status. */
export class EngineError extends Error {
  override name = 'EngineError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message === '' ? `the container engine answered with status ${status}` : message);
    this.status = status;
  }
}

/** Nothing answers at the engine's socket, or it broke off. */
export class EngineUnreachable extends Error {
  override name = 'EngineUnreachable';
  readonly code: string;

  constructor(socketPath: string, cause: NodeJS.ErrnoException) {
    super(`the container engine at ${socketPath} does not answer (${cause.code ?? cause.message})`, { cause });
    this.code = cause.code ?? '';
  }
}

export interface Explained {
  readonly reason: string;
  /** What to do, as sentences. */
  readonly fix: string;
}

interface Known {
  readonly words: RegExp;
  readonly reason: string;
  readonly fix: string;
}

/** Messages of Docker, Podman and runc, and what they mean to a person who only wants a sandbox. */
const KNOWN: readonly Known[] = [
  {
    words: /no space left on device|disk quota exceeded/i,
    reason: 'the disk of the container engine is full',
    fix: 'Make room: docker system df shows what it holds, docker system prune removes what is not in use.',
  },
  {
    words: /port is already allocated|address already in use/i,
    reason: 'a port that shall be published is taken',
    fix: 'Stop what listens there, or change SANDBOX_PORTS.',
  },
  {
    words: /exec format error|no matching manifest|image operating system|does not match the (?:specified|detected) (?:host )?platform/i,
    reason: 'the image is made for another kind of processor or system',
    fix: `Choose an image for linux/${process.arch === 'x64' ? 'amd64' : process.arch} in SANDBOX_BASE_CONTAINER_IMAGE.`,
  },
  {
    words: /no such image|manifest unknown|not found: manifest|repository does not exist|image not known|pull access denied|name unknown/i,
    reason: 'there is no such image, or it needs a login',
    fix: 'Check the name in SANDBOX_BASE_CONTAINER_IMAGE; for a private one: docker login, then docker pull <image> by hand.',
  },
  {
    words: /no such host|i\/o timeout|connection refused|TLS handshake|network is unreachable|Temporary failure in name resolution/i,
    reason: 'the registry of the image cannot be reached',
    fix: 'Check the network and the proxy of the container engine, or bring the image by hand: docker load, docker import.',
  },
  {
    words: /setrlimit|rlimit/i,
    reason: 'the engine may not raise resource limits',
    fix: 'Lower default-ulimits in the engine’s configuration to what its own process may have (ulimit -Hn).',
  },
  {
    words: /cgroup|crun/i,
    reason: 'the engine cannot make control groups here',
    fix: 'With Podman set runtime = "runc" in containers.conf; else see what docker info warns of.',
  },
  {
    words: /mounts denied|not shared from the host|bind source path does not exist|statfs .*no such file/i,
    reason: 'the engine does not see the folders of this server',
    fix: 'The engine must run on the same machine and file system as the server; with Docker Desktop share the folder in its settings.',
  },
];

/** One line that says what went wrong and what to do about it. */
export function explain(error: unknown): Explained {
  if (error instanceof EngineUnreachable) return explainUnreachable(error);
  const message = error instanceof Error ? error.message : String(error);
  const firstLine = message.split('\n').find((line) => line.trim() !== '') ?? '';
  const known = KNOWN.find(({ words }) => words.test(message));
  if (known === undefined) return { reason: firstLine, fix: 'docker info and the engine’s own log show more.' };
  return { reason: `${known.reason} (${firstLine.slice(0, 300)})`, fix: known.fix };
}

function explainUnreachable({ message, code }: EngineUnreachable): Explained {
  if (code === 'EACCES' || code === 'EPERM') {
    return {
      reason: `${message}: this user may not use its socket`,
      fix: 'Add the user to the group of the socket (sudo usermod -aG docker $USER, then log in again), or use rootless Docker or Podman.',
    };
  }
  return {
    reason: message,
    fix: 'Start it: sudo systemctl start docker, or systemctl --user start podman.socket; for another place set DOCKER_HOST=unix:///path.',
  };
}

/** As an error whose message can be shown. */
export function explained(error: unknown): Error {
  const { reason, fix } = explain(error);
  return new Error(`${reason}. ${fix}`, { cause: error });
}
