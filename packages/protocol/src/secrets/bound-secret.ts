import { createMask, type Mask } from './secret-mask.ts';
import { Secret } from './secret.ts';

/** A secret that may go to some hosts alone. */
export interface BoundSecret {
  /** Of its variable. */
  readonly name: string;
  /** In lower case; each with all names below it. */
  readonly hosts: readonly string[];
  /** Over its value alone, also in bytes that were read as Latin-1. */
  readonly mask: Mask;
}

export function bindSecret(name: string, hosts: readonly string[], value: Secret): BoundSecret {
  const bytes = new TextEncoder().encode(value.reveal());
  const asLatin = new Secret(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return { name, hosts, mask: createMask([value, asLatin]) };
}

/** `host`: a name or an address, as a URL has it. */
export function mayGoTo({ hosts }: Pick<BoundSecret, 'hosts'>, host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return hosts.some((each) => name === each || name.endsWith(`.${each}`));
}

/** One sentence without a full stop. */
export function wrongHost({ name, hosts }: Pick<BoundSecret, 'name' | 'hosts'>, host: string): string {
  return `the secret ${name} may go to ${hosts.join(', ')} alone, not to ${host.slice(0, 253)}`;
}
