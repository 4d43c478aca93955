// Before the first paint, so that no page flashes in the other theme. A browser may refuse storage to a page from a disk.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('tendon-docs-theme');
  } catch {}
  const isDark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();
