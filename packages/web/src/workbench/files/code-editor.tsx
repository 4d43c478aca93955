import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useLayoutEffect, useRef } from 'react';
import { languageOf } from './editor-language.ts';
import { t } from '../../lib/language/text.ts';

interface CodeEditorProps {
  readonly path: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onWrite: (text: string) => void;
  readonly onSave: () => void;
}

/** A text that comes from outside replaces the one that is shown, and undo brings that back. */
export function CodeEditor(props: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const now = useRef(props);
  now.current = props;
  const { path, text, isReadOnly } = props;
  useLayoutEffect(() => {
    const language = new Compartment();
    const { text: first } = now.current;
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: first,
        extensions: [
          ...LOOK,
          EditorState.lineSeparator.of(separatorOf(first)),
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ 'aria-label': t('Text of {{path}}', { path }) }),
          language.of([]),
          keymap.of([{ key: 'Mod-s', preventDefault: true, run: () => (now.current.onSave(), true) }]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            const written = docChanged ? state.sliceDoc() : now.current.text;
            if (written !== now.current.text) now.current.onWrite(written);
          }),
        ],
      }),
    });
    view.current = editor;
    let isOver = false;
    void languageOf(path)?.then((found) => isOver || editor.dispatch({ effects: language.reconfigure(found) }));
    return () => {
      isOver = true;
      editor.destroy();
    };
  }, [path, isReadOnly]);
  // With the text that is drawn, not after it: what is typed meanwhile would be taken back.
  useLayoutEffect(() => {
    const { state } = view.current!;
    if (state.sliceDoc() !== text) view.current!.dispatch({ changes: { from: 0, to: state.doc.length, insert: state.toText(text) } });
  }, [text]);
  return <div ref={place} className="code-editor" />;
}

/** A file is saved with the ends of lines that it has; where they differ, a return is a character of its line. */
function separatorOf(text: string): string {
  return text.includes('\r\n') && !/(^|[^\r])\n/.test(text) ? '\r\n' : '\n';
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.definitionKeyword, tags.tagName], class: 'syn-key' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue], class: 'syn-str' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.unit], class: 'syn-num' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.heading], class: 'syn-fn' },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.attributeName], class: 'syn-type' },
  { tag: [tags.comment, tags.meta], class: 'syn-com' },
]);

const THEME = EditorView.theme({
  '&': { height: '100%', isolation: 'isolate', color: 'var(--color-ink)', backgroundColor: 'var(--color-surface)' },
  '&.cm-focused, .cm-content:focus-visible': { outline: 'none' },
  '.cm-scroller': { font: '0.75rem/1.25rem var(--font-mono)', fontVariantLigatures: 'none' },
  '.cm-gutters': { color: 'var(--color-ink-3)', backgroundColor: 'var(--color-surface)', border: '0' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter': { backgroundColor: 'var(--color-hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--color-accent-wash)',
  },
  '.cm-selectionMatch, .cm-searchMatch, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--color-active)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--color-wait-wash)' },
  '.cm-panels': { color: 'var(--color-ink)', backgroundColor: 'var(--color-bg)', borderColor: 'var(--color-line)' },
});

const LOOK = [
  lineNumbers(),
  highlightSpecialChars(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  syntaxHighlighting(COLOURS),
  keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
  THEME,
];
