// @ts-nocheck: it runs in a page, whose types the executor does not have.

/**
 * What a page says, as Markdown. Self-contained; `Defuddle` was defined beside it, in a world that the page's own scripts cannot
 * reach. The article alone where that is most of the page, else the whole body, so that lists, menus and tables of tools stay.
 */
export function readContent({ maxHtml, maxElements }) {
  const text = document.body?.innerText ?? document.documentElement?.textContent ?? '';
  const isHtml = /html/.test(document.contentType) && document.body !== null;
  const isReadable = isHtml && !document.querySelector('.line-gutter-backdrop') && document.getElementsByTagName('*').length <= maxElements;
  const html = isHtml ? document.documentElement.outerHTML.slice(0, maxHtml) : '';

  const visibleBody = () => {
    const body = document.body.cloneNode(true);
    const copies = [...body.querySelectorAll('*')];
    for (const [index, element] of [...document.body.querySelectorAll('*')].entries()) {
      if (!element.checkVisibility() || /^(?:script|style|noscript|template|svg)$/.test(element.localName)) copies[index].remove();
    }
    return body.innerHTML;
  };
  const written = (markdown) => markdown.replaceAll(/\]\([^)\s]*\)|\s+|[[\]*#|-]/g, '').length;
  // Where a page takes HTML from trusted hands only, ours are: in this world, not in that of the page.
  const trustOurselves = () => {
    const policy = globalThis.trustedTypes?.createPolicy(`reader-${Math.random()}`, { createHTML: (trusted) => trusted });
    if (!policy) return;
    const { parseFromString } = DOMParser.prototype;
    DOMParser.prototype.parseFromString = function parse(source, type) {
      return parseFromString.call(this, policy.createHTML(source), type);
    };
    const { set, get } = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML');
    const setTrusted = function setInner(source) {
      set.call(this, policy.createHTML(source));
    };
    Object.defineProperty(Element.prototype, 'innerHTML', { get, set: setTrusted, configurable: true });
    const { write } = Document.prototype;
    Document.prototype.write = function writeTrusted(source) {
      return write.call(this, policy.createHTML(source));
    };
  };
  const toMarkdown = () => {
    trustOurselves();
    // It guesses what is of no interest; short lists and tables are among it.
    const noGuesses = { removeLowScoring: false, removePartialSelectors: false, removeContentPatterns: false };
    const article = new Defuddle(document, { url: location.href, markdown: true, useAsync: false, ...noGuesses }).parse().content ?? '';
    if (written(article) >= 0.7 * written(text)) return article.replaceAll(/<iframe[^>]*?src="([^"]*)"[^>]*><\/iframe>/g, '[Frame: $1]');
    return Defuddle.createMarkdownContent(visibleBody(), location.href).replaceAll(/\)\[/g, ') [');
  };

  let markdown = '';
  try {
    markdown = isReadable ? toMarkdown() : '';
  } catch {
    // a page that no reader can make sense of: its text stays
  }
  const isWhole = !markdown.startsWith('Partial conversion') && written(markdown) >= 0.3 * written(text);
  return { title: document.title, html, text, markdown: isWhole ? markdown : '' };
}
