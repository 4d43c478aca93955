import { BrowseInteractiveAction, BrowseAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool, riskParameter, toRisk } from './define-tool.ts';

export const browser = defineTool({
  name: 'browser',
  description: `Use a web browser in the sandbox, e.g. to try the web app you work on. It keeps its tabs between calls; you get the page's accessibility tree, where elements have ids: [12] button 'Save'.
Write one call a line, with literal arguments. Elements are named by id or CSS selector; ids stay valid until the page changes.
goto(url), go_back(), go_forward(), noop(wait_ms=1000), scroll(delta_x, delta_y)
click(bid, button="left", modifiers=[]), dblclick(bid), hover(bid), focus(bid), press(bid, "Control+a"), fill(bid, "text"), clear(bid), check(bid), uncheck(bid), select_option(bid, "option" or ["a", "b"]), drag_and_drop(from_bid, to_bid), upload_file(bid, "path")
tab_new(), tab_close(), tab_focus(index), mouse_click(x, y), keyboard_type("text"), keyboard_press("Enter"), send_msg_to_user("text")
Downloads are saved under .downloads in the workspace. To only read a page, web_read is shorter.`,
  parameters: z.object({
    code: z.string().describe('The calls, e.g. goto("http://localhost:3000")\\nfill("12", "Ann")\\nclick("15")'),
    security_risk: riskParameter,
  }),
  toAction: ({ code, security_risk }) =>
    BrowseInteractiveAction.create({ browser_actions: code, return_axtree: true, security_risk: toRisk(security_risk) }),
});

export const webRead = defineTool({
  name: 'web_read',
  description: 'Open a web page in the browser of the sandbox and read it as Markdown.',
  parameters: z.object({
    url: z.string().min(1).describe('Address of the page.'),
    security_risk: riskParameter,
  }),
  toAction: ({ url, security_risk }) => BrowseAction.create({ url, security_risk: toRisk(security_risk) }),
});
