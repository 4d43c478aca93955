import { parseMicroagent, type Microagent } from '@tendon/core/knowledge';

/** The microagent in a Markdown file, whatever is wrong with its front matter. */
export function readMicroagent(fallbackName: string, markdown: string): Microagent {
  return parseMicroagent(fallbackName, markdown).microagent;
}
