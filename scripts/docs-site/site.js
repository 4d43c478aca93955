// Theme, menu and search of the site. The index is a script, not data that is fetched: pages from a disk may load scripts alone.
(() => {
  const { dataset } = document.documentElement;
  const toRoot = document.body.dataset.root;
  const [menu, pages, theme, search, found] = ['menu', 'pages', 'theme', 'search', 'found'].map((id) => document.getElementById(id));

  const nameTheme = () => (theme.textContent = dataset.theme === 'dark' ? 'Light' : 'Dark');
  nameTheme();
  theme.addEventListener('click', () => {
    dataset.theme = dataset.theme === 'dark' ? 'light' : 'dark';
    nameTheme();
    try {
      localStorage.setItem('tendon-docs-theme', dataset.theme);
    } catch {}
  });
  menu.addEventListener('click', () => {
    const isOpen = pages.classList.toggle('open');
    menu.setAttribute('aria-expanded', String(isOpen));
  });

  let loading;
  const load = () =>
    (loading ??= new Promise((resolve) => {
      const script = document.createElement('script');
      script.src = `${toRoot}search-index.js`;
      script.addEventListener('load', () => resolve(window.tendonDocs));
      document.head.append(script);
    }));

  /** Sections that have every word, those with words in the heading first. */
  function sectionsWith(index, words) {
    const scored = [];
    for (const section of index) {
      const [heading, text] = [`${section.page} ${section.title}`.toLowerCase(), section.text.toLowerCase()];
      if (!words.every((word) => heading.includes(word) || text.includes(word))) continue;
      scored.push({ section, score: words.filter((word) => heading.includes(word)).length });
    }
    return scored.toSorted((a, b) => b.score - a.score).slice(0, 12);
  }

  function rowOf({ page, title, text, path }, words) {
    const link = document.createElement('a');
    link.href = toRoot + path;
    const name = document.createElement('b');
    name.textContent = title === page ? page : `${page}: ${title}`;
    const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)));
    const excerpt = document.createElement('span');
    excerpt.textContent = text.slice(Math.max(0, at - 40), at + 100);
    link.append(name, excerpt);
    const row = document.createElement('li');
    row.append(link);
    return row;
  }

  async function show() {
    const query = search.value;
    const index = await load();
    if (query !== search.value) return;
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = words.length > 0 ? sectionsWith(index, words) : [];
    const nothing = Object.assign(document.createElement('li'), { textContent: 'No match' });
    found.replaceChildren(...(hits.length > 0 ? hits.map(({ section }) => rowOf(section, words)) : [nothing]));
    found.hidden = words.length === 0;
  }
  search.addEventListener('focus', load);
  search.addEventListener('input', show);
  document.addEventListener('keydown', (event) => {
    const links = [...found.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    if (event.key === '/' && !event.target.closest('input')) search.focus();
    else if (event.key === 'Escape') found.hidden = true;
    else if (found.hidden || !event.target.closest('.search')) return;
    else if (event.key === 'ArrowDown') (links[at + 1] ?? links[0])?.focus();
    else if (event.key === 'ArrowUp') (at > 0 ? links[at - 1] : search).focus();
    else if (event.key === 'Enter' && at < 0) links[0]?.click();
    else return;
    event.preventDefault();
  });
  document.addEventListener('click', (event) => {
    if (!event.target.closest('.search')) found.hidden = true;
  });
})();
