/** Apart from the package's own entry: only who reads Markdown files needs a parser of YAML. */
export { parseMicroagent, type Microagent, type ParsedMicroagent } from './parse-microagent.ts';
export { parseAgentFile } from './parse-agent-file.ts';
export { workspaceAgents } from './workspace-agents.ts';
export { workspaceMicroagents } from './workspace-microagents.ts';
