import { type Language, StreamLanguage } from '@codemirror/language';
import { tags } from '@lezer/highlight';

type Mode = Parameters<typeof StreamLanguage.define>[0];

const script = () => import('@codemirror/legacy-modes/mode/javascript');
const like = () => import('@codemirror/legacy-modes/mode/clike');
const css = () => import('@codemirror/legacy-modes/mode/css');
const python = async () => (await import('@codemirror/legacy-modes/mode/python')).python;
const javascript = async () => (await script()).javascript;
const typescript = async () => (await script()).typescript;
const json = async () => (await script()).json;
const shell = async () => (await import('@codemirror/legacy-modes/mode/shell')).shell;
const yaml = async () => (await import('@codemirror/legacy-modes/mode/yaml')).yaml;
const html = async () => (await import('@codemirror/legacy-modes/mode/xml')).html;
const xml = async () => (await import('@codemirror/legacy-modes/mode/xml')).xml;
const cpp = async () => (await like()).cpp;

/** By the end of the name, or the whole of it; each is loaded with the first such file. */
const MODES: Readonly<Record<string, () => Promise<Mode>>> = {
  ...{ js: javascript, mjs: javascript, cjs: javascript, jsx: javascript, ts: typescript, mts: typescript, tsx: typescript },
  ...{ json, jsonc: json, py: python, pyi: python, sh: shell, bash: shell, yml: yaml, yaml, html, vue: html, xml, svg: xml },
  ...{ cpp, cc: cpp, hpp: cpp, h: cpp, c: async () => (await like()).c, java: async () => (await like()).java },
  ...{ cs: async () => (await like()).csharp, kt: async () => (await like()).kotlin, scala: async () => (await like()).scala },
  ...{ css: async () => (await css()).css, scss: async () => (await css()).sCSS, less: async () => (await css()).less },
  go: async () => (await import('@codemirror/legacy-modes/mode/go')).go,
  rs: async () => (await import('@codemirror/legacy-modes/mode/rust')).rust,
  rb: async () => (await import('@codemirror/legacy-modes/mode/ruby')).ruby,
  swift: async () => (await import('@codemirror/legacy-modes/mode/swift')).swift,
  toml: async () => (await import('@codemirror/legacy-modes/mode/toml')).toml,
  sql: async () => (await import('@codemirror/legacy-modes/mode/sql')).standardSQL,
  lua: async () => (await import('@codemirror/legacy-modes/mode/lua')).lua,
  pl: async () => (await import('@codemirror/legacy-modes/mode/perl')).perl,
  r: async () => (await import('@codemirror/legacy-modes/mode/r')).r,
  dockerfile: async () => (await import('@codemirror/legacy-modes/mode/dockerfile')).dockerFile,
  diff: async () => (await import('@codemirror/legacy-modes/mode/diff')).diff,
  ini: async () => (await import('@codemirror/legacy-modes/mode/properties')).properties,
};

/** What the modes say, and the library does not know. */
const NAMES = { property: tags.propertyName };

/** What colours a file of this name; nothing where the language is not known. */
export function languageOf(path: string): Promise<Language> | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const mode = MODES[name.slice(name.lastIndexOf('.') + 1)];
  return mode?.().then((found) => StreamLanguage.define({ ...found, tokenTable: { ...NAMES, ...found.tokenTable } }));
}
