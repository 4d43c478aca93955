// Before the first paint: the theme and the width of the stream, from what was stored or from the system; and the files of the page, so that
// they are fetched while the app is.
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
  // Written by the build: the pattern of a path, and what its page needs.
  var pages = [];
  pages.forEach(function (page) {
    if (!new RegExp(page[0]).test(location.pathname)) return;
    page[1].forEach(function (file) {
      var link = document.createElement('link');
      link.rel = 'modulepreload';
      link.href = file;
      document.head.appendChild(link);
    });
  });
})();
