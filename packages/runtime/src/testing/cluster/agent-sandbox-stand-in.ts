import { randomBytes } from 'node:crypto';
import { createApiClient } from '../../drivers/kubernetes/api/api-client.ts';
import type { ClusterAccess } from '../../drivers/kubernetes/api/cluster-access.ts';
import type { ClusterObject } from '../../drivers/kubernetes/api/resources.ts';
import { WatchedObjects } from '../../drivers/kubernetes/api/watch-objects.ts';
import {
  clusterObjects,
  type ClusterObjects,
  type Pod,
  type Sandbox,
  type SandboxClaim,
} from '../../drivers/kubernetes/cluster-objects.ts';

/**
 * A STAND-IN for the controller of agent-sandbox: binds claims to sandboxes, of a pool or new ones, makes and ends their pods, and lets them expire. It
 * follows the controller of 0.5.3 in what the driver relies on. `npm run test:cluster` runs the real one where it was built.
 */
export interface AgentSandboxStandIn {
  close(): void;
}

interface Blueprint {
  readonly podTemplate: { readonly metadata?: { readonly labels?: Record<string, string> }; readonly spec: Record<string, unknown> };
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
}

interface OwnedMeta {
  readonly ownerReferences?: readonly { readonly kind: string; readonly uid: string }[];
  readonly generation?: number;
}

const EXPIRY_MS = 500;

export async function startAgentSandboxStandIn(access: ClusterAccess): Promise<AgentSandboxStandIn> {
  const objects = clusterObjects(createApiClient(access), access.namespace);
  const closing = new AbortController();
  const claims = new WatchedObjects(objects.claims, '');
  const sandboxes = new WatchedObjects(objects.sandboxes, '');
  const pods = new WatchedObjects(objects.pods, '');
  const all = [claims, sandboxes, pods];
  await Promise.all(all.map((one) => one.open()));
  let isDue = true;
  for (const one of all) void one.until(() => void (isDue = true), closing.signal).catch(() => {});
  const timer = setInterval(() => (isDue = true), EXPIRY_MS);

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      if (!isDue) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        continue;
      }
      isDue = false;
      for (const claim of claims.all()) await bind(objects, claim).catch(() => (isDue = true));
      for (const sandbox of sandboxes.all()) await reconcile(objects, sandbox, claims).catch(() => (isDue = true));
      await fillPools(objects, sandboxes).catch(() => (isDue = true));
    }
  }

  void run();
  return {
    close() {
      closing.abort();
      clearInterval(timer);
      for (const one of all) one.close();
    },
  };
}

async function blueprintOf(objects: ClusterObjects, pool: string): Promise<Blueprint | undefined> {
  const found = await objects.pools.get(pool);
  return found && ((await objects.templates.get(found.spec.sandboxTemplateRef.name))?.spec as Blueprint | undefined);
}

function newSandbox(name: string, owner: ClusterObject, kind: string, blueprint: Blueprint): Sandbox {
  const { podTemplate, volumeClaimTemplates } = blueprint;
  const ownerReferences = [{ kind, name: owner.metadata.name, uid: owner.metadata.uid! }];
  return {
    metadata: { name, ownerReferences },
    spec: { podTemplate, volumeClaimTemplates, operatingMode: 'Running' },
  } as unknown as Sandbox;
}

async function bind(objects: ClusterObjects, claim: SandboxClaim): Promise<void> {
  const expires = claim.spec.lifecycle?.shutdownTime;
  if (expires !== undefined && Date.parse(expires) < Date.now()) return objects.claims.delete(claim.metadata.name);
  if (claim.status?.sandbox?.name !== undefined) return;
  const blueprint = await blueprintOf(objects, claim.spec.warmPoolRef.name);
  if (blueprint === undefined) return;
  const { items } = await objects.sandboxes.list('');
  const waiting = items.find(({ metadata }) => (metadata as OwnedMeta).ownerReferences?.[0]?.kind === 'SandboxWarmPool');
  const ownerReferences = [{ kind: 'SandboxClaim', name: claim.metadata.name, uid: claim.metadata.uid }];
  if (waiting) await objects.sandboxes.patch(waiting.metadata.name, { metadata: { ownerReferences } });
  else await objects.sandboxes.create(newSandbox(claim.metadata.name, claim, 'SandboxClaim', blueprint));
  await objects.claims.patch(claim.metadata.name, { status: { sandbox: { name: waiting?.metadata.name ?? claim.metadata.name } } });
}

async function reconcile(objects: ClusterObjects, known: Sandbox, claims: WatchedObjects<SandboxClaim>): Promise<void> {
  const sandbox = await objects.sandboxes.get(known.metadata.name);
  if (sandbox === undefined) return;
  const { name } = sandbox.metadata;
  const { operatingMode, shutdownTime } = sandbox.spec;
  const pod = await objects.pods.get(name);
  const isExpired = shutdownTime !== undefined && Date.parse(shutdownTime) <= Date.now();
  if (isExpired || operatingMode === 'Suspended') {
    if (pod && pod.metadata.deletionTimestamp === undefined) await objects.pods.delete(name);
    return setCondition(
      objects,
      sandbox,
      isExpired ? { type: 'Ready', status: 'False', reason: 'SandboxExpired' } : { type: 'Suspended', status: 'True' },
    );
  }
  if (pod !== undefined) return;
  try {
    await objects.pods.create(podOf(sandbox));
    await setCondition(objects, sandbox, { type: 'Ready', status: 'False', reason: 'DependenciesNotReady' });
  } catch (error) {
    const condition = {
      type: 'Ready',
      status: 'False',
      reason: 'ReconcilerError',
      message: `Error seen: ${(error as Error).message}`,
    } as const;
    await setCondition(objects, sandbox, condition);
    const claim = claims.all().find(({ status }) => status?.sandbox?.name === name);
    if (claim) await objects.claims.patch(claim.metadata.name, { status: { conditions: [condition] } });
  }
}

async function setCondition(objects: ClusterObjects, sandbox: Sandbox, condition: Record<string, unknown>): Promise<void> {
  const { generation } = sandbox.metadata as OwnedMeta;
  const conditions = [{ ...condition, observedGeneration: generation }];
  if (JSON.stringify(sandbox.status?.conditions) !== JSON.stringify(conditions))
    await objects.sandboxes.patch(sandbox.metadata.name, { status: { conditions } });
}

function podOf({ metadata: { name, uid }, spec }: Sandbox): Pod {
  const { podTemplate, volumeClaimTemplates = [] } = spec as unknown as Blueprint;
  const volumes = volumeClaimTemplates.map((claim) => ({
    name: claim.metadata.name,
    persistentVolumeClaim: { claimName: `${claim.metadata.name}-${name}` },
  }));
  const given = podTemplate.spec as { readonly volumes?: readonly object[] };
  const metadata = { name, labels: podTemplate.metadata?.labels, ownerReferences: [{ kind: 'Sandbox', name, uid }] };
  return { metadata, spec: { ...given, volumes: [...(given.volumes ?? []), ...volumes] }, status: { phase: 'Pending' } } as unknown as Pod;
}

async function fillPools(objects: ClusterObjects, sandboxes: WatchedObjects<Sandbox>): Promise<void> {
  for (const pool of (await objects.pools.list('')).items) {
    const own = sandboxes
      .all()
      .filter(({ metadata }) => (metadata as OwnedMeta).ownerReferences?.some(({ uid }) => uid === pool.metadata.uid));
    const blueprint = await blueprintOf(objects, pool.metadata.name);
    if (blueprint === undefined || own.length >= pool.spec.replicas) continue;
    await objects.sandboxes.create(
      newSandbox(`${pool.metadata.name}-${randomBytes(3).toString('hex')}`, pool, 'SandboxWarmPool', blueprint),
    );
  }
}
