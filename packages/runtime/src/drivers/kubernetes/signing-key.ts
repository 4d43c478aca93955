import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { ClusterProblem } from './api/api-error.ts';
import type { Resources } from './api/resources.ts';
import type { Secret } from './cluster-objects.ts';
import { INSTALLATION_LABEL, installationName } from './manifests/names.ts';

/** The key that the servers of an installation share, and that no sandbox knows. */
export interface SigningKey {
  /** SPKI in base64. */
  readonly publicKey: string;
  /** Signs the configuration for one pod; in base64. */
  sign(place: string, body: string): string;
  /** Derives the key that every request to the executor of an incarnation carries. No record stores it, because every server can derive it. */
  executorKey(incarnation: string): string;
}

const FIELD = 'ed25519.pem';

/** Reads the key of the installation from its Secret; the first server creates it. Rejects with the errors of the API. */
export async function findSigningKey(secrets: Resources<Secret>, installation: string): Promise<SigningKey> {
  const name = installationName(installation);
  const there = (await secrets.get(name)) ?? (await secrets.create(freshSecret(name, installation))) ?? (await secrets.get(name));
  const pem = Buffer.from(there?.data?.[FIELD] ?? '', 'base64').toString('utf8');
  try {
    return signingKey(createPrivateKey(pem));
  } catch {
    throw new ClusterProblem(
      `the Secret ${name} holds no key of Tendon`,
      'Delete it: it is made anew, and running sandboxes are replaced.',
    );
  }
}

function signingKey(privateKey: KeyObject): SigningKey {
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' });
  return {
    publicKey: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64'),
    sign: (place, body) => sign(null, Buffer.from(`${place}\n${body}`), privateKey).toString('base64'),
    executorKey: (incarnation) => createHmac('sha256', seed).update(`executor\0${incarnation}`).digest('base64url'),
  };
}

function freshSecret(name: string, installation: string): Secret {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: { [INSTALLATION_LABEL]: installation } },
    type: 'Opaque',
    data: { [FIELD]: Buffer.from(pem).toString('base64') },
  };
}
