/** Apart from the package's own entry: only who reads Markdown files needs a parser of YAML. */
export { parseAgentFile } from './parse-agent-file.ts';
export { workspaceAgents } from './workspace-agents.ts';
export { parseMicroagent, type ParsedMicroagent } from './parse-microagent.ts';
export type { Microagent, SkillFile } from './microagent.ts';
export { toSkill } from './to-skill.ts';
export { workspaceMicroagents } from './workspace-microagents.ts';
