import type { Microagent, Skill } from './microagent.ts';
import type { ParsedMicroagent } from './parse-microagent.ts';

const MAX_NAME = 64;

/** A `SKILL.md`: brought by `/name` and its trigger words, described by its first line where its front matter does not. */
export function toSkill({ microagent, description }: ParsedMicroagent, place: Omit<Skill, 'description'>): Microagent {
  const name = microagent.name.replaceAll(/\s+/g, ' ').slice(0, MAX_NAME);
  const [first = ''] = microagent.content.replaceAll(/^[#\s]+/g, '').split('\n', 1);
  return {
    ...microagent,
    name,
    type: 'knowledge',
    triggers: [...new Set([`/${name}`, ...microagent.triggers.filter((trigger) => trigger !== microagent.name)])],
    skill: { ...place, description: description || first.slice(0, 200).trim() },
  };
}
