// What stands around the text of every page: bar with search and theme, the pages by group, the headings of this one.
import { escapeHtml as escape } from './render-markdown.mjs';

/** `toRoot` leads from the page to the top of the site: the site works from a disk and below any path. */
export function pageFrame({ title, html, sections, path, groups, toRoot }) {
  const nav = groups
    .map(({ name, pages }) => {
      const links = pages.map((page) => {
        const here = page.path === path ? ' aria-current="page"' : '';
        return `<li><a href="${toRoot}${page.path}"${here}>${escape(page.title)}</a></li>`;
      });
      return `<section><h2>${name}</h2><ul>${links.join('')}</ul></section>`;
    })
    .join('\n');
  const headings = sections.filter(({ level }) => level === 2);
  const contents = headings.map((section) => `<li><a href="#${section.id}">${escape(section.title)}</a></li>`).join('');
  return `<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title === 'Tendon' ? title : `${title} – Tendon`)}</title>
<link rel="icon" href="${toRoot}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${toRoot}site.css">
<script src="${toRoot}theme.js"></script>
</head>
<body data-root="${toRoot}">
<a class="skip" href="#text">To the text</a>
<header>
<button type="button" id="menu" aria-expanded="false" aria-controls="pages">Pages</button>
<a class="brand" href="${toRoot}index.html"><img src="${toRoot}icon.svg" alt="" width="18" height="18">Tendon</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search the documentation" aria-label="Search the documentation" autocomplete="off">
<ul id="found" aria-label="Found" hidden></ul>
</div>
<button type="button" id="theme">Dark</button>
</header>
<nav id="pages" aria-label="Pages">
${nav}
</nav>
<main id="text" tabindex="-1">
${html}
</main>
${headings.length > 2 ? `<aside aria-label="On this page"><h2>On this page</h2><ul>${contents}</ul></aside>` : '<aside></aside>'}
<script src="${toRoot}site.js" defer></script>
</body>
</html>
`;
}
