import { fileURLToPath } from 'node:url';
import type { Plugin } from './plugin.ts';

/**
 * Functions for cells (`open_file`, `search_dir`, `edit_file_by_replace`, `parse_pdf` …), there by name in every kernel. The module
 * lies beside the executor and is imported from there, so that its own tracebacks have lines.
 */
export function createAgentSkills(): Plugin {
  const folder = fileURLToPath(new URL('./agent_skills', import.meta.url));
  return {
    name: 'agent_skills',
    adds: { kernelCode: importing(folder) },
    start: () => Promise.resolve({ ok: true }),
    isReady: () => true,
    stop() {},
  };
}

/** Leaves no names behind but those of the module. */
function importing(folder: string): string {
  return `def _tendon_import():
    import importlib.util, sys
    folder = ${JSON.stringify(folder)}
    spec = importlib.util.spec_from_file_location("agent_skills", folder + "/__init__.py", submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules["agent_skills"] = module
    was, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = was
_tendon_import()
del _tendon_import
from agent_skills import *`;
}
