// Before the first paint: the theme and the width of the stream, from what was stored or from the system.
(function () {
  var root = document.documentElement;
  var stored = {};
  try {
    stored = { theme: localStorage.getItem('tendon.theme'), split: localStorage.getItem('tendon.split') };
  } catch {
    // Storage may be forbidden; the system's choice is good enough.
  }
  var dark = stored.theme === 'dark' || (stored.theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.theme = dark ? 'dark' : 'light';
  var bar = document.querySelector('meta[name="theme-color"]');
  if (bar && dark) bar.content = '#101214';
  if (stored.split) root.style.setProperty('--split', stored.split);
})();
