// Markdown to HTML, with the parser and the languages of the web app. HTML in the Markdown is left out.
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight';
import { Marked } from 'marked';
import { languageOf } from '../../packages/web/src/workbench/files/editor-language.ts';
import { headingId } from './heading-id.mjs';

const HIGHLIGHTER = tagHighlighter([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], class: 'syn-key' },
  { tag: [tags.string, tags.special(tags.string)], class: 'syn-str' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], class: 'syn-num' },
  { tag: [tags.standard(tags.variableName), tags.function(tags.variableName), tags.propertyName], class: 'syn-fn' },
  { tag: [tags.typeName, tags.definition(tags.variableName), tags.attributeName], class: 'syn-type' },
  { tag: tags.comment, class: 'syn-com' },
]);

const LANGUAGES = new Map();
for (const name of ['sh', 'json', 'ts', 'ini']) LANGUAGES.set(name, await languageOf(`x.${name}`));

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escapeHtml = (text) => text.replace(/[&<>"']/g, (character) => ENTITIES[character]);

/**
 * `linkOf(target)` answers the address of a link, or undefined for what the site does not have, which is then no link.
 * `sections` are the headings with the text below each, for the search.
 */
export function renderMarkdown(markdown, linkOf) {
  const sections = [];
  const taken = new Map();
  const renderer = {
    heading({ depth, tokens }) {
      const html = this.parser.parseInline(tokens);
      const title = textOf(html);
      const id = headingId(title, taken);
      sections.push({ level: depth, id, title });
      const mark = depth > 1 ? `<a href="#${id}" class="anchor" aria-label="Link to ${escapeHtml(title)}">#</a>` : '';
      return `<h${depth} id="${id}">${html}${mark}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      const address = linkOf(href);
      return address === undefined ? `<span title="${escapeHtml(href)}">${words}</span>` : `<a href="${escapeHtml(address)}">${words}</a>`;
    },
    image({ href, text }) {
      return `<a href="${escapeHtml(href)}"><img src="${escapeHtml(href)}" alt="${escapeHtml(text)}" loading="lazy"></a>`;
    },
    table(token) {
      const row = (cells, name) =>
        `<tr>${cells.map(({ tokens }) => `<${name}>${this.parser.parseInline(tokens)}</${name}>`).join('')}</tr>`;
      const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
      return `<div class="table" tabindex="0"><table>\n<thead>${row(token.header, 'th')}</thead>\n<tbody>\n${body}\n</tbody></table></div>\n`;
    },
    code({ text, lang }) {
      return `<pre tabindex="0"><code>${coloured(text, lang)}</code></pre>\n`;
    },
    html: () => '',
  };
  const html = new Marked({ renderer }).parse(markdown);
  return { html, sections: withTexts(sections, html) };
}

function coloured(text, lang) {
  const language = LANGUAGES.get(lang);
  if (!language) return escapeHtml(text);
  let html = '';
  let end = 0;
  highlightTree(language.parser.parse(text), HIGHLIGHTER, (from, to, className) => {
    html += `${escapeHtml(text.slice(end, from))}<span class="${className}">${escapeHtml(text.slice(from, to))}</span>`;
    end = to;
  });
  return html + escapeHtml(text.slice(end));
}

const CHARACTERS = Object.fromEntries(Object.entries(ENTITIES).map(([character, entity]) => [entity, character]));
const textOf = (html) => html.replace(/<[^>]*>/g, '').replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity]);

/** The words between one heading and the next. */
function withTexts(sections, html) {
  const parts = html.split(/<h[1-6] id="[^"]*">.*?<\/h[1-6]>/s).slice(1);
  return sections.map((section, index) => {
    const text = textOf((parts[index] ?? '').replace(/<\/(?:t[dh]|li|p|pre)>|<br>/g, ' '));
    return { ...section, text: text.replace(/\s+/g, ' ').trim() };
  });
}
