import { z } from 'zod';
import { defineAction, defineObservation, securityRisk, thought } from '../define.ts';

export const BrowseAction = defineAction({
  kind: 'browse',
  args: () => ({ url: z.string(), thought, security_risk: securityRisk, return_axtree: z.boolean().default(false) }),
  traits: { answeredBy: 'runtime', mutating: true },
  message: (args) => `I am browsing the URL: ${args.url}`,
});

/** `browser_actions` is text in the BrowserGym action language; it is parsed, never evaluated. */
export const BrowseInteractiveAction = defineAction({
  kind: 'browse_interactive',
  args: () => ({
    browser_actions: z.string(),
    thought,
    browsergym_send_msg_to_user: z.string().default(''),
    security_risk: securityRisk,
    return_axtree: z.boolean().default(false),
  }),
  traits: { answeredBy: 'runtime', mutating: true, confirmable: true },
  message: (args) => `I am interacting with the browser:\n\`\`\`\n${args.browser_actions}\n\`\`\``,
});

const anyObject = z.record(z.string(), z.unknown()).default({});

export const BrowseObservation = defineObservation({
  kind: 'browse',
  extras: () => ({
    url: z.string(),
    trigger_by_action: z.string().default(''),
    /** A `data:` URL, or empty. */
    screenshot: z.string().default(''),
    screenshot_path: z.string().nullable().default(null),
    set_of_marks: z.string().default(''),
    error: z.boolean().default(false),
    goal_image_urls: z.array(z.string()).default([]),
    open_pages_urls: z.array(z.string()).default([]),
    active_page_index: z.number().int().default(-1),
    dom_object: anyObject,
    axtree_object: anyObject,
    extra_element_properties: anyObject,
    last_browser_action: z.string().default(''),
    last_browser_action_error: z.string().default(''),
    focused_element_bid: z.string().default(''),
    filter_visible_only: z.boolean().default(false),
    title: z.string().optional(),
    /** Of the answer to the request for the page. */
    status_code: z.number().int().optional(),
    /** What the server sent and scripts made of it, cut where it is very long: `content` is Markdown. */
    html: z.string().optional(),
    /** What the agent has to say to its user (`send_msg_to_user`). */
    messages_to_user: z.array(z.string()).optional(),
  }),
  message: (extras) => `Visited ${extras.url}`,
});
