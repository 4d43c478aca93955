// The screens that have a picture, and how each is reached.

/** The moment at which all pictures are taken. */
export const NOW = '2026-03-16T10:44:10.000Z';

const tab = (name) => (page) => page.getByRole('tab', { name }).click();
const shown = (text) => (page) => page.getByText(text).first().waitFor();
const settings = (id) => ({ name: `settings-${id}`, path: `/settings/${id}` });
/** Of a window as people have it, in the middle of the work on one task. */
const panel = (name, ready) => ({
  name: `panel-${name.toLowerCase()}`,
  path: '/conversations/ledger',
  reach: [tab(/^Changes 4/), tab(new RegExp(`^${name}`)), ready],
});

/**
 * `reach`: what is done and waited for on the page, in order. `themes` and `isPhone` say how else than light in a window it is taken;
 * `model` is the one of the settings.
 */
export const SCREENS = [
  {
    name: 'home',
    path: '/',
    reach: [shown('Accept semicolon-separated CSV files')],
    themes: ['light', 'dark'],
    isPhone: true,
    model: 'openai/gpt-4o',
  },
  { name: 'model-guide', path: '/', reach: [shown('You are on the demo model')] },
  {
    name: 'search',
    path: '/',
    reach: [
      (page) => page.getByRole('button', { name: 'Search conversations' }).click(),
      (page) => page.getByRole('searchbox').fill('marmalade'),
      shown('the otter likes marmalade'),
      (page) => page.getByRole('searchbox').scrollIntoViewIfNeeded(),
    ],
  },
  { name: 'at-work', path: '/conversations/running', reach: [shown('fill the old rows')] },
  {
    name: 'approval',
    path: '/conversations/ledger',
    reach: [(page) => page.getByRole('region', { name: 'Decision' }).waitFor()],
    themes: ['light', 'dark'],
    isPhone: true,
  },
  { name: 'question', path: '/conversations/export', reach: [shown('Reading by key')] },
  { name: 'error', path: '/conversations/refused', reach: [shown('Incorrect API key')] },
  {
    name: 'done',
    path: '/conversations/rounding',
    reach: [shown('All 65 tests pass'), shown('Undo the file changes')],
    themes: ['light', 'dark'],
  },
  panel('Changes', (page) => page.getByRole('tabpanel').getByText('read-csv.ts').first().waitFor()),
  panel('Files', async (page) => {
    await page.getByRole('navigation', { name: 'Files' }).getByText('src', { exact: true }).click();
    await page.getByRole('navigation', { name: 'Files' }).getByText('read-csv.ts').click();
    await page.getByRole('textbox', { name: /^Text of/ }).waitFor();
  }),
  panel('Terminal', shown('39 passed')),
  panel('Notebook', shown('All 214 samples import.')),
  panel('Browser', shown('312 rows found')),
  panel('App', (page) => page.getByRole('tabpanel').waitFor()),
  panel('Plan', (page) => page.getByRole('tabpanel').getByText('Push the branch').waitFor()),
  { name: 'panel-timeline', path: '/conversations/twice', reach: [tab(/^Timeline/), shown('Remove it')] },
  {
    name: 'palette',
    path: '/conversations/ledger',
    reach: [
      (page) => page.getByRole('region', { name: 'Decision' }).waitFor(),
      // Before that its keys do nothing, and the palette does not list them.
      (page) => page.waitForTimeout(700),
      (page) => page.keyboard.press('Control+k'),
      (page) => page.getByRole('combobox', { name: 'Command' }).waitFor(),
    ],
  },
  {
    name: 'keys',
    path: '/conversations/rounding',
    reach: [
      (page) => page.getByRole('feed').focus(),
      (page) => page.keyboard.press('?'),
      (page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor(),
    ],
  },
  { ...settings('models'), isPhone: true, model: 'openai/gpt-4o' },
  ...['approvals', 'limits', 'network', 'sandboxes', 'secrets', 'mcp', 'git', 'agents', 'triggers', 'keys', 'appearance'].map(settings),
  ...['notifications', 'connections'].map(settings),
];
