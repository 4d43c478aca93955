import type { Microagents } from '@tendon/protocol';

/** One text for agents: an instruction, knowledge, or a skill. What the wire lists, and what decides whether it counts. */
export interface Microagent extends Readonly<Microagents['microagents'][number]> {
  /** The only agent that it is for. */
  readonly agent?: string;
  /** Of two with one name in one place, the higher one counts. */
  readonly version?: string;
  /** Where the text was found: a folder of the workspace with a slash at its end, or the workspace itself, which is empty. */
  readonly folder?: string;
  readonly skill?: Skill;
}

/** What a model is shown of a skill before it uses it. */
export interface Skill {
  readonly description: string;
  /** In the sandbox, or relative to the workspace. Of one from outside, where its files are put when it is used. */
  readonly folder: string;
  /** Of one from outside the sandbox: the files beside its `SKILL.md`, as far as they are within bounds. */
  readonly files?: () => Promise<readonly SkillFile[]>;
}

export interface SkillFile {
  /** Relative to the skill. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

let collator: Intl.Collator | undefined;
/** Made for the first two of one name: it takes 6 ms. */
const compareVersions = (one: string, other: string) => (collator ??= new Intl.Collator('en', { numeric: true })).compare(one, other);

/** The first of each name counts, but for one with a higher version. */
export function byName(found: readonly Microagent[]): Microagent[] {
  const named = new Map<string, Microagent>();
  for (const each of found) {
    const before = named.get(each.name);
    if (!before || compareVersions(each.version ?? '', before.version ?? '') > 0) named.set(each.name, each);
  }
  return [...named.values()];
}

/** What most files name: all agents here are made from it. */
const GENERAL = 'CodeActAgent';

/** One that names no agent, or the general one, is for each. */
export function isFor({ agent = GENERAL }: Microagent, name: string): boolean {
  return agent === GENERAL || agent === name;
}
