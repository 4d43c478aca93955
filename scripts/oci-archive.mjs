// Writes an image as one archive that `docker load` and `podman load` take: layers, configuration, and the manifests of both worlds.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const run = (program, args) => execFileSync(program, args, { maxBuffer: 2 ** 31 - 1, stdio: ['ignore', 'pipe', 'inherit'] });
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** The same files give the same bytes: names in order, one time for all, owners by number. */
const tarArguments = (seconds) => [
  ...['--create', '--sort=name', '--format=posix', '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime'],
  ...[`--mtime=@${seconds}`, '--numeric-owner'],
];

/** `paths` below `root`, without what `except` names. */
export function layerOf(root, { paths, except = [], seconds }) {
  const tar = run('tar', [...tarArguments(seconds), '-C', root, ...except.map((path) => `--exclude=${path}`), ...paths]);
  return { tar, gzip: gzipSync(tar, { level: 9 }) };
}

/** Returns the digest of its manifest, and the bytes of its layers, unpacked and packed. */
export function writeArchive(path, { layers, config, architecture, tag, seconds }) {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-oci-'));
  try {
    const blobs = join(folder, 'blobs/sha256');
    mkdirSync(blobs, { recursive: true });
    const put = (bytes, mediaType) => {
      const digest = sha256(bytes);
      writeFileSync(join(blobs, digest), bytes);
      return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
    };
    const json = (value, mediaType) => put(Buffer.from(JSON.stringify(value)), mediaType);
    const created = new Date(seconds * 1000).toISOString();
    const written = layers.map(({ gzip }) => put(gzip, 'application/vnd.oci.image.layer.v1.tar+gzip'));
    const rootfs = { type: 'layers', diff_ids: layers.map(({ tar }) => `sha256:${sha256(tar)}`) };
    const history = layers.map(() => ({ created, created_by: 'scripts/image.mjs' }));
    const described = json({ created, architecture, os: 'linux', config, rootfs, history }, 'application/vnd.oci.image.config.v1+json');
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const manifest = json({ schemaVersion: 2, mediaType, config: described, layers: written }, mediaType);
    const annotations = { 'io.containerd.image.name': tag, 'org.opencontainers.image.ref.name': tag.split(':')[1] };
    const blob = ({ digest }) => `blobs/sha256/${digest.slice('sha256:'.length)}`;
    const files = {
      'oci-layout': { imageLayoutVersion: '1.0.0' },
      'index.json': { schemaVersion: 2, manifests: [{ ...manifest, annotations, platform: { architecture, os: 'linux' } }] },
      'manifest.json': [{ Config: blob(described), RepoTags: [tag], Layers: written.map(blob) }],
    };
    for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(value));
    mkdirSync(dirname(path), { recursive: true });
    run('tar', [...tarArguments(seconds), '--owner=0', '--group=0', '--file', path, '-C', folder, ...Object.keys(files), 'blobs']);
    return {
      digest: manifest.digest,
      bytes: layers.reduce((sum, { tar }) => sum + tar.length, 0),
      packedBytes: written.reduce((sum, { size }) => sum + size, 0),
      archiveBytes: statSync(path).size,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const LIST = /^\[.*\]$/s;
const SECOND_NS = 1_000_000_000;

/** What the last stage of a Dockerfile says of the container, as an image's configuration has it. Throws at an instruction that it does not know. */
export function configOf(dockerfile) {
  const text = readFileSync(dockerfile, 'utf8').replaceAll(/^#.*$/gm, '');
  const lines = text
    .slice(text.lastIndexOf('\nFROM '))
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const config = { Env: [], ExposedPorts: {}, Volumes: {} };
  const set = {
    FROM: () => {},
    COPY: () => {},
    ENV: (value) => config.Env.push(value),
    VOLUME: (value) => Object.assign(config.Volumes, Object.fromEntries(JSON.parse(value).map((path) => [path, {}]))),
    WORKDIR: (value) => (config.WorkingDir = value),
    USER: (value) => (config.User = value),
    EXPOSE: (value) => (config.ExposedPorts[`${value}/tcp`] = {}),
    STOPSIGNAL: (value) => (config.StopSignal = value),
    ENTRYPOINT: (value) => (config.Entrypoint = JSON.parse(value)),
    CMD: (value) => (config.Cmd = JSON.parse(value)),
    HEALTHCHECK(value) {
      const [options, command] = value.split(' CMD ');
      const seconds = (name) => Number(new RegExp(`--${name}=(\\d+)s`).exec(options)[1]) * SECOND_NS;
      const times = { Interval: seconds('interval'), Timeout: seconds('timeout'), StartPeriod: seconds('start-period') };
      config.Healthcheck = { Test: ['CMD', ...JSON.parse(command)], ...times, Retries: Number(/--retries=(\d+)/.exec(options)[1]) };
    },
  };
  for (const line of lines) {
    const [, name, value] = /^(\w+) (.*)$/.exec(line) ?? [];
    if (!(name in set)) throw new Error(`${dockerfile}: ${line}`);
    if ((name === 'ENTRYPOINT' || name === 'CMD') && !LIST.test(value)) throw new Error(`${dockerfile}: ${name} must be a list`);
    set[name](value);
  }
  return config;
}
